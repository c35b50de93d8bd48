// ns per transaction and per access of each workload's stream, at a pool of 4 GiB and ratio 1.15.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "workloads/permutation.h"
#include "workloads/random.h"
#include "workloads/workload.h"

namespace numabench {
namespace {

constexpr WorkloadSize kSize{.pool_pages = 524288, .ratio = 1.15};

/// The stream of the first client of the workload's last role (hotscan: a scanner), read in the
/// batches of an engine.
void stream(benchmark::State& state, const char* name, const ParameterValues& parameters) {
  const auto workload = make_workload(name, parameters);
  const auto accesses = workload->open_stream(workload->roles(1).back(), 0, kSize, 1);
  std::vector<Access> batch(256);
  std::int64_t transactions = 0;
  for (auto _ : state) {
    accesses->next(batch);
    benchmark::ClobberMemory();
    transactions += std::count_if(batch.begin(), batch.end(), [](const Access& access) {
      return access.flags & Access::kEndsTransaction;
    });
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch.size()));
  using Counter = benchmark::Counter;
  state.counters["per_transaction"] =
      Counter(static_cast<double>(transactions), Counter::kIsRate | Counter::kInvert);
}
BENCHMARK_CAPTURE(stream, zipfian, "zipfian", {});
BENCHMARK_CAPTURE(stream, zipfian_in_key_order, "zipfian", {{"permute", "false"}});
BENCHMARK_CAPTURE(stream, uniform, "uniform", {});
BENCHMARK_CAPTURE(stream, hotscan_scanner, "hotscan", {});
BENCHMARK_CAPTURE(stream, seqscan, "seqscan", {});

void permute(benchmark::State& state) {
  const auto n = static_cast<std::uint64_t>(state.range(0));
  const Permutation permutation(n, 1);
  std::uint64_t index = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(permutation(index));
    if (++index == n) index = 0;
  }
}
BENCHMARK(permute)->Arg(1000)->Arg(31'500'000);

/// What the first client of a run waits for, and what a cell's preparation costs.
void open_first_stream(benchmark::State& state) {
  const WorkloadSize size{.pool_pages = static_cast<std::uint64_t>(state.range(0)), .ratio = 1.15};
  for (auto _ : state) {
    const auto workload = make_workload("zipfian", {});
    benchmark::DoNotOptimize(workload->open_stream(workload->roles(1).front(), 0, size, 1));
  }
}
BENCHMARK(open_first_stream)->Arg(524288)->Arg(8'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace numabench
