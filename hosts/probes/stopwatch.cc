#include "hosts/probes/stopwatch.h"

#include <benchmark/benchmark.h>

#include <cmath>

#include "hosts/error.h"

namespace numabench {
namespace {

/// Keeps the time of the one benchmark that is run; prints nothing.
class Keeper : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    constexpr double kNanosecond = 1e-9;  // the unit that benchmarks have unless told otherwise
    for (const Run& run : runs) seconds_ = run.GetAdjustedRealTime() * kNanosecond;
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = std::nan("");
};

}  // namespace

double seconds_per_step(const TimedWork& work, double seconds) {
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark("probe",
                               [&work](benchmark::State& state) {
                                 const int thread = state.thread_index();
                                 work.begin(thread);
                                 for (auto _ : state) work.step(thread);
                               })
      ->Threads(work.threads)
      ->UseRealTime()
      ->MinTime(seconds);
  Keeper keeper;
  benchmark::RunSpecifiedBenchmarks(&keeper);
  benchmark::ClearRegisteredBenchmarks();
  if (!std::isfinite(keeper.seconds())) {
    throw Error(ErrorKind::kInternal, "a probe was not timed");
  }
  return keeper.seconds();
}

}  // namespace numabench
