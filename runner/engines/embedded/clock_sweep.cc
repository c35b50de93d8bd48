#include "runner/engines/embedded/clock_sweep.h"

#include <mutex>

namespace numabench {
namespace {

constexpr std::uint32_t kWholeWeight = 100;

}  // namespace

std::size_t ClockSweep::bytes(int partitions) {
  const auto count = static_cast<std::size_t>(partitions);
  return sizeof(Shared) + sizeof(Partition) * count +
         sizeof(std::atomic<std::uint32_t>) * count * count;
}

ClockSweep::ClockSweep(std::byte* memory, std::uint32_t buffers, int partitions)
    : layout_(buffers, partitions) {
  shared_ = reinterpret_cast<Shared*>(memory);
  partitions_ = reinterpret_cast<Partition*>(shared_ + 1);
  weights_ = reinterpret_cast<std::atomic<std::uint32_t>*>(partitions_ + partitions);
  for (int p = 0; p < partitions; ++p) set_weight(p, p, kWholeWeight);
}

std::uint32_t ClockSweep::tick(int index, std::uint32_t count) {
  const std::uint32_t size = layout_.size(index);
  const std::uint32_t first =
      partition(index).next_victim.fetch_add(count, std::memory_order_relaxed);
  const std::uint32_t last = first + count - 1;
  if (last < size) return first;
  // Whoever draws the first buffer of a lap wraps the hand, as in PostgreSQL; the others only
  // reduce.
  if (last % size < count) wrap(index);
  return first % size;
}

void ClockSweep::wrap(int index) {
  Partition& clock = partition(index);
  const std::uint32_t size = layout_.size(index);
  // Under the lock, so that position() sees the hand and the passes change together. The laps taken
  // off the hand are counted, not the calls: a slow process may find them taken off already.
  const std::lock_guard guard(clock.lock);
  std::uint32_t hand = clock.next_victim.load(std::memory_order_relaxed);
  while (!clock.next_victim.compare_exchange_weak(hand, hand % size, std::memory_order_relaxed)) {
  }
  clock.complete_passes += hand / size;
}

std::uint64_t ClockSweep::position(int index) const {
  Partition& clock = partition(index);
  const std::lock_guard guard(clock.lock);
  return clock.complete_passes * layout_.size(index) +
         clock.next_victim.load(std::memory_order_relaxed);
}

BufferId ClockSweep::take_never_used() {
  // The load keeps the cache line shared once the list is empty, and the counter from overflowing.
  if (shared_->never_used.load(std::memory_order_relaxed) >= layout_.buffers()) return kNoBuffer;
  const std::uint32_t buffer = shared_->never_used.fetch_add(1, std::memory_order_relaxed);
  return buffer < layout_.buffers() ? buffer : kNoBuffer;
}

std::uint64_t ClockSweep::take_requests(int index) {
  return partition(index).requests.exchange(0, std::memory_order_relaxed);
}

std::uint64_t ClockSweep::take_served(int index) {
  return partition(index).served.exchange(0, std::memory_order_relaxed);
}

std::uint64_t ClockSweep::give_ups(int index) const {
  return partition(index).give_ups.load(std::memory_order_relaxed);
}

std::uint32_t ClockSweep::weight(int from, int to) const {
  return weights_[from * partitions() + to].load(std::memory_order_relaxed);
}

void ClockSweep::set_weight(int from, int to, std::uint32_t weight) {
  weights_[from * partitions() + to].store(weight, std::memory_order_relaxed);
}

}  // namespace numabench
