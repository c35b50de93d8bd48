// The hands of the clock in shared memory: PostgreSQL's StrategyControl, one for each partition.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runner/engines/embedded/buffer_pool.h"
#include "runner/engines/embedded/partition_layout.h"
#include "runner/engines/embedded/spin.h"

namespace numabench {

/// A view of the partitions in shared memory; copies refer to the same hands.
class ClockSweep {
 public:
  static std::size_t bytes(int partitions);

  ClockSweep() = default;
  /// `memory` is zero-filled, aligned to 128 bytes and outlives the sweep. Sets the initial
  /// weights.
  ClockSweep(std::byte* memory, std::uint32_t buffers, int partitions);

  const PartitionLayout& layout() const { return layout_; }
  int partitions() const { return layout_.partitions(); }

  /// ClockSweepTick: takes `count` consecutive positions and returns the first, below the
  /// partition's size; the others follow modulo the size.
  std::uint32_t tick(int partition, std::uint32_t count = 1);
  /// Advances of this hand since the pool was made: complete passes × size + hand.
  std::uint64_t position(int partition) const;

  /// The next buffer that was never used, in id order; kNoBuffer when all have been.
  BufferId take_never_used();

  void count_request(int home) { partition(home).requests.fetch_add(1, std::memory_order_relaxed); }
  void count_served(int from) { partition(from).served.fetch_add(1, std::memory_order_relaxed); }
  void count_give_up(int at) { partition(at).give_ups.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t take_requests(int partition);  ///< and resets them
  std::uint64_t take_served(int partition);    ///< and resets them
  std::uint64_t give_ups(int partition) const;

  std::uint32_t weight(int from, int to) const;
  void set_weight(int from, int to, std::uint32_t weight);

 private:
  /// What different processes write at different moments lies on different pairs of cache lines.
  struct Partition {
    alignas(128) std::atomic<std::uint32_t> next_victim;  ///< may run past the size until wrapped
    alignas(128) Spinlock lock;
    std::uint64_t complete_passes;  ///< under the lock
    alignas(128) std::atomic<std::uint64_t> requests;
    alignas(128) std::atomic<std::uint64_t> served;
    alignas(128) std::atomic<std::uint64_t> give_ups;
  };
  struct Shared {
    alignas(128) std::atomic<std::uint32_t> never_used;  ///< the freelist's head
  };

  Partition& partition(int index) const { return partitions_[index]; }
  void wrap(int partition);

  PartitionLayout layout_;
  Shared* shared_ = nullptr;
  Partition* partitions_ = nullptr;
  std::atomic<std::uint32_t>* weights_ = nullptr;  ///< partitions × partitions, a row an origin
};

}  // namespace numabench
