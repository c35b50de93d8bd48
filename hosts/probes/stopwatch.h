// Google Benchmark as a stopwatch: runs one function long enough and gives the time of a call.
#pragma once

#include <functional>

namespace numabench {

/// What each thread does: `begin` once, then `step` many times, all threads equally often.
struct TimedWork {
  int threads = 1;
  std::function<void(int thread)> begin;
  std::function<void(int thread)> step;
};

/// Wall time for at least `seconds`, divided by the steps of all threads together; in seconds.
double seconds_per_step(const TimedWork& work, double seconds);

}  // namespace numabench
