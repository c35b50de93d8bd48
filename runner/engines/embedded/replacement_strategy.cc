#include "runner/engines/embedded/replacement_strategy.h"

#include "hosts/error.h"
#include "runner/engines/embedded/buffer_descriptor.h"
#include "runner/engines/embedded/clock_sweep.h"

namespace numabench {
namespace {

std::uint32_t batch_of(const BufferPool& pool) {
  const PoolPolicy& policy = pool.policy();
  const bool on = policy.batch == PoolPolicy::Batch::kForce ||
                  (policy.batch == PoolPolicy::Batch::kAuto && pool.shape().nodes.size() > 1);
  return on ? static_cast<std::uint32_t>(policy.batch_size) : 1;
}

}  // namespace

ReplacementStrategy::ReplacementStrategy(BufferPool& pool,
                                         std::function<BackendLocation()> location)
    : pool_(pool),
      sweep_(pool.sweep()),
      policy_(pool.policy()),
      choice_(pool, std::move(location)),
      batch_(batch_of(pool)),
      leftovers_(static_cast<std::size_t>(pool.partitions())) {}

BufferId ReplacementStrategy::get_buffer(Allocation& allocation) {
  const bool first_try = allocation.partition < 0;
  if (first_try) {
    choice_.begin_allocation();
    sweep_.count_request(choice_.home());
    allocation.partition = choice_.home();
  }
  if (policy_.freelist) {
    if (const BufferId buffer = from_freelist(); buffer != kNoBuffer) return buffer;
  }
  if (first_try && policy_.balance == PoolPolicy::Balance::kPerAllocation) {
    allocation.partition = choice_.take_turn();
  }
  return sweep(allocation);
}

BufferId ReplacementStrategy::from_freelist() {
  for (;;) {
    const BufferId buffer = sweep_.take_never_used();
    if (buffer == kNoBuffer) return kNoBuffer;
    // Another backend's sweep may have found it before us: then the list goes on.
    std::uint64_t never_used = 0;
    if (pool_.descriptor(buffer).state.compare_exchange_strong(never_used, buffer_state::kOneRef,
                                                               std::memory_order_acquire)) {
      return buffer;
    }
  }
}

BufferId ReplacementStrategy::sweep(Allocation& allocation) {
  const bool per_tick = policy_.balance == PoolPolicy::Balance::kPerTick;
  std::uint32_t pinned = 0;  // in succession
  int exhausted = 0;
  for (;;) {
    if (per_tick) allocation.partition = choice_.take_turn();
    const BufferId buffer = next_under_hand(allocation.partition);
    const Visit result = visit(buffer, allocation);
    ++allocation.ticks;
    if (result == Visit::kClaimed) {
      sweep_.count_served(allocation.partition);
      return buffer;
    }
    pinned = result == Visit::kPinned ? pinned + 1 : 0;
    if (pinned <
        (per_tick ? sweep_.layout().buffers() : sweep_.layout().size(allocation.partition)))
      continue;

    const bool may_go_on = policy_.scan_all_partitions && !per_tick;
    if (!may_go_on || ++exhausted == sweep_.partitions()) {
      throw Error(ErrorKind::kRun, "no unpinned buffers available",
                  "use a larger pool or fewer clients");
    }
    allocation.partition = (allocation.partition + 1) % sweep_.partitions();
    pinned = 0;
  }
}

BufferId ReplacementStrategy::next_under_hand(int partition) {
  const BufferId first = sweep_.layout().first_buffer(partition);
  if (batch_ == 1) return first + sweep_.tick(partition);
  Leftover& leftover = leftovers_[static_cast<std::size_t>(partition)];
  if (leftover.count == 0) leftover = {sweep_.tick(partition, batch_), batch_};
  const BufferId buffer = first + leftover.position;
  leftover.position = (leftover.position + 1) % sweep_.layout().size(partition);
  --leftover.count;
  return buffer;
}

ReplacementStrategy::Visit ReplacementStrategy::visit(BufferId buffer, Allocation& allocation) {
  using namespace buffer_state;
  std::atomic<std::uint64_t>& word = pool_.descriptor(buffer).state;
  std::uint64_t state = word.load(std::memory_order_relaxed);
  for (;;) {
    if (refcount(state) != 0) return Visit::kPinned;
    const bool used = usage(state) != 0;
    if (used && passes_by(allocation)) return Visit::kPassed;
    if (used && !bound_engages(allocation)) {
      if (word.compare_exchange_weak(state, state - kOneUsage, std::memory_order_relaxed)) {
        ++allocation.chances;
        return Visit::kPassed;
      }
    } else if (word.compare_exchange_weak(state, state + kOneRef, std::memory_order_acquire,
                                          std::memory_order_relaxed)) {
      if (used) record_forced(allocation);
      return Visit::kClaimed;
    }
  }
}

bool ReplacementStrategy::passes_by(const Allocation& allocation) const {
  return policy_.usage == PoolPolicy::Usage::kHotCool &&
         policy_.cooling == PoolPolicy::Cooling::kPreferCool &&
         allocation.ticks < sweep_.layout().size(allocation.partition);
}

bool ReplacementStrategy::bound_engages(const Allocation& allocation) const {
  return policy_.bound > 0 && allocation.chances >= policy_.bound;
}

void ReplacementStrategy::record_forced(Allocation& allocation) {
  if (allocation.forced) return;
  allocation.forced = true;
  sweep_.count_give_up(allocation.partition);
}

}  // namespace numabench
