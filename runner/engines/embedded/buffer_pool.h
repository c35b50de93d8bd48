// The embedded engine's buffer pool: PostgreSQL's bufmgr where it matters, with every published
// patch as a switch of PoolPolicy.
//
// Start here. A BufferPool lives in SharedRegions and is used by forked processes (or threads),
// each through its own Backend (backend.h): `read()` pins the buffer of a page, evicting a victim
// when it must; `unpin()` lets it go. Bulk reads pass a BufferRing (buffer_ring.h). One process
// calls BackgroundWriter::cycle() (background_writer.h) every 200 ms.
//
// The rules, which the brute-force model in tests/ implements independently:
//
// STATE. N buffers; the sweep has P partitions of contiguous ids, N / P each, the first N mod P one
//   more. A buffer has a refcount, a usage and, when it holds a page, a tag. The usage's range is
//   0..5 (count), 0..1 (second_chance) or 0..2 (hot_cool: 0 COOL, 1 HOT, 2 HOT with reference bit).
//   Initially no buffer has a page and all hands stand at the first buffer of their partition.
//
// PIN of a resident page by a backend that has not pinned it yet: refcount + 1; usage + 1 up to 5
//   (count; with a ring only 0 -> 1), := 1 (second_chance), := 2 (hot_cool). A nested pin by the
//   same backend changes neither. UNPIN of the backend's last pin: refcount - 1.
//
// MISS: an allocation finds a victim and pins it; its old page, if any, leaves the mapping; the new
//   page enters it with usage 1 / 1 / 2 (count / second_chance / hot_cool) under admission
//   `referenced` and 0 under `probation`. A victim found pinned or reused by somebody else at that
//   point is let go and the allocation goes on with the next one: a retry. When another backend has
//   brought the same page in meanwhile, the victim goes back without a page (usage 0) and that
//   backend's buffer is pinned as a resident page. Ticks and chances sum over the retries of an
//   allocation.
//
// RING (bulk reads, policy.rings): a ring has min(32 buffers + 16 × 16 (io_combine_limit ×
//   effective_io_concurrency), N / 8) slots, at least 1. It first moves to its next slot (starting
//   so that the first move gives slot 0). If the slot's buffer is unpinned and its usage <= 1
//   (count, second_chance) or = 0 (hot_cool), it is the victim: no tick, not counted as an
//   allocation. Else the sweep serves, and its victim is remembered in the slot. Without
//   policy.rings a read's ring is ignored, in PIN too.
//
// ALLOCATION. The home partition's request counter + 1. With `freelist` never-used buffers go
//   first, in id order over the whole pool, with no tick (such a buffer is no victim: it counts
//   neither as served nor against a budget); else the sweep:
//
// SWEEP in a partition: each tick takes the id under the hand and advances the hand (modulo the
//   partition's size; each wrap is a complete pass).
//     pinned: next; after as many successive pinned buffers as the partition has, it is exhausted:
//       with scan_all_partitions the sweep goes on in the next partition (p + 1 mod P), else, or
//       when all P are exhausted, Error(kRun, "no unpinned buffers available"): of such a read
//       BackendCounters count the access only.
//     usage > 0: if bound > 0 and this allocation has already spent `bound` chances, the buffer is
//       claimed all the same (forced; the partition's give-up counter + 1 once per allocation);
//       else usage - 1, one chance is spent and the count of successive pinned buffers restarts.
//     usage = 0: claimed.
//   prefer_cool: during as many first ticks of an allocation as the partition under the hand has
//     buffers, those with usage above 0 are passed by unchanged: no chance is spent, but the count
//     of successive pinned buffers restarts (else a lap with one unpinned buffer could look
//     exhausted); after that as above.
//   The victim's partition's served counter + 1.
//
// BATCH (batch on): a backend claims batch_size consecutive hand positions of a partition at once
//   and visits them one by one, keeping leftovers (per partition) for its next allocation. A tick
//   is a visit.
//
// HOME. Partitions are dealt to nodes in order, P / nodes each; the home of a backend on CPU c of
//   the k-th node is k × (P / nodes) + c mod (P / nodes), or 0 if P = 1. It is looked up at the
//   first allocation and then again every home_refresh allocations.
//
// BALANCE per_allocation: the partition that serves is the backend's target, initially its home,
//   with budget weight[home][home]. When the budget is 0 the target moves on round-robin (target +
//   1 mod P) to the next partition with a weight > 0, back to itself if there is no other, and the
//   budget is that weight (1 when all weights of the row are 0: it stays); each allocation takes 1
//   from it, once whatever its retries. When the home has changed, the target starts again at home
//   with its budget. per_tick: the same choice is made at each tick; the pinned limit is then N
//   over all. Initially weight[p][p] = 100, others 0.
//
// REBALANCE, once per cycle when balance is on: the request counters a_p are taken and reset;
//   mean = sum / P (real). Nothing changes when mean < 100 or sum of max(0, a_p - mean)
//   < 0.1 × mean. Else the new weights of p: a_p <= mean: 100 for itself, 0 for others; a_p > mean:
//   floor(100 × mean / a_p) for itself, floor((100 - that) × (mean - a_q) / sum of all lacks) for
//   each q below the mean, 0 for others (floors of the exact quotients).
//   weight := floor((old + new) / 2).
//
// BACKGROUND WRITER, once per cycle and partition (PostgreSQL's BgBufferSync without dirty pages).
//   H is the hand's absolute position (passes × size + hand; a batch counts when it is claimed),
//   H_last that of the cycle before, W the writer's (both 0 at first), s its smoothed allocations
//   (0 at first), d its density (10.0 at first); all arithmetic in double.
//     a = served counter, taken and reset.
//     if H - H_last > 0 and a > 0: d += ((H - H_last) / a - d) / 16.
//     if W < H: W = H. ahead = W - H; r = r0 = ahead / d. s = a if a >= s, else s += (a - s) / 16.
//     want = max(floor(2 × s), floor(size / 600) + floor(r0)).
//     While W < H + size and r < want: look at buffer W mod size, W += 1: unpinned with usage 0:
//       r += 1; unpinned with usage > 0 while spending: usage - 1, and r += 1 if it is now 0.
//     scanned = the number looked at, found = r - r0: if both > 0: d += (scanned / found - d) / 16.
//   Spending: background_writer_spends and the partition's give-up counter rose since the last
//   cycle, or prefer_cool. Without background_writer a cycle only rebalances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hosts/shared_region.h"
#include "runner/config/pool_policy.h"
#include "runner/engines/embedded/buffer_descriptor.h"
#include "workloads/dataset.h"

namespace numabench {

using BufferId = std::uint32_t;
inline constexpr BufferId kNoBuffer = 0xffffffffu;
inline constexpr PageNumber kNoPage = 0xffffffffu;

/// What a pool is made for.
struct PoolShape {
  std::uint32_t buffers = 0;
  std::uint32_t dataset_pages = 0;  ///< pages that can be read: 0 .. dataset_pages - 1
  std::vector<int> nodes{0};        ///< node ids with memory that partitions are dealt to, in order
  bool page_contents = false;       ///< reserve 8 KiB a buffer beside its descriptor
  SharedRegion::HugePages huge_pages = SharedRegion::HugePages::kTry;
};

class MappingTable;
class DenseMap;
class ClockSweep;

class BufferPool {
 public:
  /// The pool is empty and usable at once; its memory is reserved with the policy's NUMA placement
  /// but not touched (see place_memory()). Throws Error(kPreflight) when the memory cannot be had,
  /// Error(kUsage) when the policy's partitions do not divide over the nodes or exceed the buffers.
  BufferPool(const PoolPolicy& policy, const PoolShape& shape);
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  /// What a server does at its start: touches descriptors and mapping, with Memory::kPrefault or
  /// `touch_pages` the pages' memory too, from the calling process. Before anybody uses the pool.
  void place_memory(bool touch_pages = false);

  const PoolPolicy& policy() const { return policy_; }
  const PoolShape& shape() const { return shape_; }
  int partitions() const { return partitions_; }
  /// Advances of all hands since the pool was made, in laps over all N buffers.
  double laps() const;
  std::uint32_t occupied_buffers() const;  ///< buffers that hold a page
  bool is_resident(PageNumber page) const;
  int usage(BufferId buffer) const;  ///< 0..5, for tests and the usage distribution
  int weight(int from_partition, int to_partition) const;
  /// Descriptors, mapping and (with page contents) the pages: for the census.
  const std::vector<SharedRegion*>& regions() const { return regions_; }

  /// Walks the whole pool while nobody uses it: every buffer that holds a page is found through the
  /// mapping exactly once, none is lost, none is pinned. Empty when all is well, else the first
  /// defect.
  std::string find_inconsistency() const;

  // For the parts of the engine that work on the pool: Backend, ReplacementStrategy,
  // BackgroundWriter.
  BufferDescriptor& descriptor(BufferId buffer) const { return descriptors_[buffer]; }
  std::byte* contents(BufferId buffer) const;  ///< nullptr without page contents
  ClockSweep& sweep() const { return *sweep_; }
  /// Exactly one of the two exists, by PoolPolicy::mapping.
  MappingTable* hash_mapping() const { return hash_mapping_.get(); }
  DenseMap* dense_mapping() const { return dense_mapping_.get(); }

 private:
  void reserve_memory();
  void set_numa_policy();
  void bind_partition(int partition);
  BufferId find(PageNumber page) const;
  std::uint64_t mapped_pages() const;
  std::string buffer_defect(BufferId buffer) const;

  PoolPolicy policy_;
  PoolShape shape_;
  int partitions_;
  SharedRegion descriptor_region_;  ///< descriptors, then the hands
  SharedRegion mapping_region_;
  SharedRegion contents_region_;  ///< empty without page contents
  std::vector<SharedRegion*> regions_;
  BufferDescriptor* descriptors_ = nullptr;
  std::unique_ptr<ClockSweep> sweep_;
  std::unique_ptr<MappingTable> hash_mapping_;
  std::unique_ptr<DenseMap> dense_mapping_;
};

}  // namespace numabench
