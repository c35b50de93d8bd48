#include "runner/engines/embedded/background_writer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "runner/engines/embedded/buffer_descriptor.h"
#include "runner/engines/embedded/clock_sweep.h"
#include "runner/engines/embedded/partition_balance.h"

namespace numabench {
namespace {

constexpr std::chrono::milliseconds kDelay{200};  // bgwriter_delay
constexpr std::chrono::milliseconds kStopLatency{10};
constexpr double kSmoothingSamples = 16;
constexpr double kLruMultiplier = 2;    // bgwriter_lru_multiplier
constexpr double kScanWholePool = 600;  // cycles in which an idle writer comes round

bool cools_ahead(const PoolPolicy& policy) {
  return policy.usage == PoolPolicy::Usage::kHotCool &&
         policy.cooling == PoolPolicy::Cooling::kPreferCool;
}

void smooth(double& average, double sample) { average += (sample - average) / kSmoothingSamples; }

}  // namespace

BackgroundWriter::BackgroundWriter(BufferPool& pool)
    : pool_(pool), partitions_(static_cast<std::size_t>(pool.partitions())) {}

bool BackgroundWriter::is_needed(const PoolPolicy& policy) {
  return policy.background_writer || policy.balance != PoolPolicy::Balance::kOff;
}

void BackgroundWriter::cycle() {
  if (pool_.policy().balance != PoolPolicy::Balance::kOff) rebalance(pool_.sweep());
  if (!pool_.policy().background_writer) return;
  for (int p = 0; p < pool_.partitions(); ++p) run_ahead(p);
}

void BackgroundWriter::start_afresh() {
  for (int p = 0; p < pool_.partitions(); ++p) {
    Partition& self = partitions_[static_cast<std::size_t>(p)];
    self = Partition{};
    self.hand = self.position = static_cast<double>(pool_.sweep().position(p));
    self.give_ups = pool_.sweep().give_ups(p);
    pool_.sweep().take_requests(p);
    pool_.sweep().take_served(p);
  }
}

void BackgroundWriter::run_ahead(int index) {
  Partition& self = partitions_[static_cast<std::size_t>(index)];
  const auto hand = static_cast<double>(pool_.sweep().position(index));
  const auto allocations = static_cast<double>(pool_.sweep().take_served(index));
  const double advance = hand - self.hand;
  self.hand = hand;
  if (advance > 0 && allocations > 0) smooth(self.density, advance / allocations);

  self.position = std::max(self.position, hand);
  const double reusable_ahead = (self.position - hand) / self.density;
  if (allocations >= self.smoothed_allocations) {
    self.smoothed_allocations = allocations;  // fast attack, slow decay
  } else {
    smooth(self.smoothed_allocations, allocations);
  }
  look_ahead(index, reusable_ahead, spends(index));
}

// Chances are spent only while allocations give up at the bound (or always, to pre-cool).
bool BackgroundWriter::spends(int index) {
  Partition& self = partitions_[static_cast<std::size_t>(index)];
  const std::uint64_t give_ups = pool_.sweep().give_ups(index);
  const bool rose = give_ups > self.give_ups;
  self.give_ups = give_ups;
  return cools_ahead(pool_.policy()) || (pool_.policy().background_writer_spends && rose);
}

void BackgroundWriter::look_ahead(int index, double reusable_ahead, bool spending) {
  Partition& self = partitions_[static_cast<std::size_t>(index)];
  const PartitionLayout& layout = pool_.sweep().layout();
  const double size = layout.size(index);
  const double wanted = std::max(std::floor(kLruMultiplier * self.smoothed_allocations),
                                 std::floor(size / kScanWholePool) + std::floor(reusable_ahead));
  const double start = self.position;
  double reusable = reusable_ahead;
  while (self.position < self.hand + size && reusable < wanted) {
    const auto offset = static_cast<std::uint32_t>(std::fmod(self.position, size));
    if (is_reusable(layout.first_buffer(index) + offset, spending)) reusable += 1;
    self.position += 1;
  }
  const double scanned = self.position - start;
  const double found = reusable - reusable_ahead;
  if (scanned > 0 && found > 0) smooth(self.density, scanned / found);
}

bool BackgroundWriter::is_reusable(BufferId buffer, bool spending) {
  using namespace buffer_state;
  std::atomic<std::uint64_t>& word = pool_.descriptor(buffer).state;
  std::uint64_t state = word.load(std::memory_order_relaxed);
  while (refcount(state) == 0 && usage(state) > 0 && spending) {
    if (word.compare_exchange_weak(state, state - kOneUsage, std::memory_order_relaxed)) {
      return usage(state) == 1;
    }
  }
  return refcount(state) == 0 && usage(state) == 0;
}

void run_background_writer(BufferPool& pool, const RunControl& control) {
  BackgroundWriter writer(pool);
  writer.start_afresh();
  auto next_cycle = std::chrono::steady_clock::now() + kDelay;
  while (control.phase() != Phase::kStop) {
    std::this_thread::sleep_for(kStopLatency);
    if (std::chrono::steady_clock::now() < next_cycle) continue;
    writer.cycle();
    next_cycle += kDelay;
  }
}

}  // namespace numabench
