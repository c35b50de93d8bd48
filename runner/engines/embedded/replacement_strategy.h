// Where the next buffer comes from: PostgreSQL's freelist.c as one backend runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runner/engines/embedded/buffer_pool.h"
#include "runner/engines/embedded/partition_choice.h"

namespace numabench {

/// What one allocation has cost so far, over all of its retries.
struct Allocation {
  int partition = -1;       ///< the partition being swept; -1 before the first try
  std::uint64_t ticks = 0;  ///< advances of a hand
  int chances = 0;          ///< usage taken from other pages
  bool forced = false;      ///< the bound engaged
};

/// ALLOCATION, SWEEP and BATCH of the rules. Not thread-safe: one a backend.
class ReplacementStrategy {
 public:
  ReplacementStrategy(BufferPool& pool, std::function<BackendLocation()> location);

  /// StrategyGetBuffer without the ring: a buffer with one pin of ours, still holding its old page.
  /// Call it again with the same `allocation` to go on after losing the victim. Throws Error(kRun)
  /// when every buffer that may serve is pinned.
  BufferId get_buffer(Allocation& allocation);

  int home() const { return choice_.home(); }

 private:
  enum class Visit { kClaimed, kPinned, kPassed };
  /// Consecutive positions claimed at once and not visited yet.
  struct Leftover {
    std::uint32_t position = 0;
    std::uint32_t count = 0;
  };

  BufferId from_freelist();
  BufferId sweep(Allocation& allocation);
  BufferId next_under_hand(int partition);
  Visit visit(BufferId buffer, Allocation& allocation);
  bool passes_by(const Allocation& allocation) const;
  bool bound_engages(const Allocation& allocation) const;
  void record_forced(Allocation& allocation);

  BufferPool& pool_;
  ClockSweep& sweep_;
  const PoolPolicy& policy_;
  PartitionChoice choice_;
  std::uint32_t batch_;              ///< positions claimed at once; 1 without batching
  std::vector<Leftover> leftovers_;  ///< by partition
};

}  // namespace numabench
