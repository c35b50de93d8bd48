// What the parts of the pool cost, in nanoseconds an item. All hits unless said otherwise: the pool
// is larger than the dataset.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <numeric>

#include "runner/engines/embedded/backend.h"
#include "runner/engines/embedded/buffer_pool.h"
#include "runner/engines/embedded/clock_sweep.h"
#include "runner/engines/embedded/mapping_table.h"
#include "runner/engines/embedded/tick_clock.h"
#include "workloads/random.h"
#include "workloads/workload.h"

namespace numabench {
namespace {

constexpr std::uint32_t kBuffers = 1 << 20;  // 8 GiB of pages; 64 MiB of descriptors
constexpr std::size_t kBatch = 64;           // accesses, as a client's

PoolShape shape_of(std::uint32_t buffers, std::uint32_t pages) {
  PoolShape shape;
  shape.buffers = buffers;
  shape.dataset_pages = pages;
  return shape;
}

/// A pool with one client.
struct Bench {
  Bench(const PoolPolicy& policy, std::uint32_t buffers, std::uint32_t pages)
      : pool(policy, shape_of(buffers, pages)),
        backend(pool, *counters, {}, [] { return BackendLocation{}; }) {
    for (PageNumber page = 0; page < std::min(buffers, pages); ++page) {
      backend.unpin(backend.read(page).buffer);
    }
    counters = std::make_unique<BackendCounters>();  // of the benchmark's own accesses
    backend.count_into(*counters);
  }
  BufferPool pool;
  std::unique_ptr<BackendCounters> counters = std::make_unique<BackendCounters>();
  Backend backend;
};

PoolPolicy with(PoolPolicy::Mapping mapping) {
  PoolPolicy policy;
  policy.mapping = mapping;
  return policy;
}

/// The floor: the two atomic operations of a pin and an unpin.
void bare_pin_and_unpin(benchmark::State& state) {
  BufferDescriptor descriptor;
  for (auto _ : state) {
    std::uint64_t word = descriptor.state.load(std::memory_order_relaxed);
    descriptor.state.compare_exchange_strong(word, word + buffer_state::kOneRef,
                                             std::memory_order_acquire);
    descriptor.state.fetch_sub(buffer_state::kOneRef, std::memory_order_release);
  }
}
BENCHMARK(bare_pin_and_unpin);

void pin_and_unpin(benchmark::State& state) {
  Bench bench(with(static_cast<PoolPolicy::Mapping>(state.range(0))), 1024, 1024);
  for (auto _ : state) bench.backend.unpin(bench.backend.read(7).buffer);
}
BENCHMARK(pin_and_unpin)->ArgName("dense")->Arg(0)->Arg(1);

void tick(benchmark::State& state) {
  const BufferPool pool({}, shape_of(kBuffers, kBuffers));
  for (auto _ : state) benchmark::DoNotOptimize(pool.sweep().tick(0));
}
BENCHMARK(tick);

void hash_lookup(benchmark::State& state) {
  const Bench bench(with(PoolPolicy::Mapping::kHash), kBuffers, kBuffers);
  const MappingTable& table = *bench.pool.hash_mapping();
  Random random(1);
  for (auto _ : state) {
    const auto page = static_cast<PageNumber>(random.next_below(kBuffers));
    const MappingLock lock(table, page, MappingLock::Mode::kShared);
    benchmark::DoNotOptimize(table.find(page));
  }
}
BENCHMARK(hash_lookup);

/// The clock's and the sampler's part of a whole access.
void timestamp(benchmark::State& state) {
  const TickClock clock = TickClock::of_this_host();
  for (auto _ : state) benchmark::DoNotOptimize(clock.now());
}
BENCHMARK(timestamp);

/// A client's loop without the clock: sample, map, pin, count, unpin; an item is a page access.
void whole_access(benchmark::State& state) {
  const auto workload = make_workload("zipfian", {{"s", "1.1"}});
  const double ratio = static_cast<double>(state.range(1)) / 100;
  const WorkloadSize size{.pool_pages = kBuffers, .ratio = ratio};
  const auto pages = static_cast<std::uint32_t>(workload->dataset(size).pages());
  Bench bench(with(static_cast<PoolPolicy::Mapping>(state.range(0))), kBuffers, pages);
  const auto stream = workload->open_stream(workload->roles(1).front(), 0, size, 1);
  std::array<Access, kBatch> batch;
  for (auto _ : state) {
    stream->next(batch);
    for (const Access& access : batch) bench.backend.prefetch_mapping(access.page);
    for (const Access& access : batch) bench.backend.prefetch_descriptor(access.page);
    for (const Access& access : batch) {
      bench.backend.unpin(bench.backend.read(access.page).buffer);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
  state.counters["ns"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kBatch * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["hit_pct"] = 100 - 100.0 * static_cast<double>(bench.counters->reads.get()) /
                                        static_cast<double>(bench.counters->accesses.get());
}
BENCHMARK(whole_access)->ArgNames({"dense", "ratio_pct"})->ArgsProduct({{0, 1}, {95, 115}});

/// Drawing the pages alone, to subtract.
void sample_only(benchmark::State& state) {
  const auto workload = make_workload("zipfian", {{"s", "1.1"}});
  const WorkloadSize size{.pool_pages = kBuffers, .ratio = 0.95};
  const auto stream = workload->open_stream(workload->roles(1).front(), 0, size, 1);
  std::array<Access, kBatch> batch;
  for (auto _ : state) {
    stream->next(batch);
    benchmark::DoNotOptimize(batch);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
BENCHMARK(sample_only);

}  // namespace
}  // namespace numabench
