// ns per Zipf sample: ours beside the method of pgbench's random_zipfian.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>

#include "workloads/zipf.h"

namespace numabench {
namespace {

/// The published algorithm that pgbench uses: rejection from a Pareto distribution, Devroye,
/// "Non-Uniform Random Variate Generation", Springer 1986, chapter X.6. It serves only s > 1, and a
/// bound n by drawing again.
class DevroyeZipf {
 public:
  DevroyeZipf(std::uint64_t n, double s)
      : n_(static_cast<double>(n)), s_(s), b_(std::pow(2.0, s - 1)) {}

  std::uint64_t sample(Random& random) const {
    while (true) {
      const double u = 1 - random.next_double();
      const double v = random.next_double();
      const double x = std::floor(std::pow(u, -1 / (s_ - 1)));
      const double t = std::pow(1 + 1 / x, s_ - 1);
      if (x <= n_ && v * x * (t - 1) / (b_ - 1) <= t / b_) return static_cast<std::uint64_t>(x);
    }
  }

 private:
  double n_;
  double s_;
  double b_;
};

void sample_pgbench(benchmark::State& state) {
  const DevroyeZipf sampler(static_cast<std::uint64_t>(state.range(0)), 1.1);
  Random random(1);
  for (auto _ : state) benchmark::DoNotOptimize(sampler.sample(random));
  state.SetItemsProcessed(state.iterations());
}

/// Arguments: n, and s in hundredths. Counted per sample as above.
void sample_ours(benchmark::State& state) {
  const ZipfSampler sampler(static_cast<std::uint64_t>(state.range(0)),
                            static_cast<double>(state.range(1)) / 100);
  Random random(1);
  std::array<std::uint64_t, 64> ranks;
  while (state.KeepRunningBatch(ranks.size())) {
    sampler.sample(random, ranks);
    benchmark::DoNotOptimize(ranks);
  }
  state.SetItemsProcessed(state.iterations());
}

// 31.5 million rows are the heap of 1.15 x 4 GB.
BENCHMARK(sample_pgbench)->Arg(1'000'000)->Arg(31'500'000);
BENCHMARK(sample_ours)
    ->ArgsProduct({{1000, 1'000'000, 31'500'000, 1'000'000'000}, {50, 99, 100, 110, 200}});

void construct(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(ZipfSampler(static_cast<std::uint64_t>(state.range(0)), 1.1));
  }
}
BENCHMARK(construct)->Arg(31'500'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace numabench
