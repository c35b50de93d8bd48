// Monotonic time for the run loop; tests pass a clock of their own, so that no test waits.
#pragma once

#include <string>

namespace numabench {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds since an arbitrary start; CLOCK_MONOTONIC, so that a stepping wall clock changes
  /// nothing.
  virtual double now_seconds() = 0;
  virtual void sleep(double seconds) = 0;
  /// UTC in ISO 8601, for people.
  virtual std::string wall_time() = 0;
};

/// The machine's clock.
Clock& system_clock();

}  // namespace numabench
