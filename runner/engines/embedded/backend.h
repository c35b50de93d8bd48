// A client's access to the pool: PostgreSQL's bufmgr.c as one backend runs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "runner/engines/embedded/backend_counters.h"
#include "runner/engines/embedded/buffer_pool.h"
#include "runner/engines/embedded/buffer_ring.h"
#include "runner/engines/embedded/private_refcounts.h"
#include "runner/engines/embedded/replacement_strategy.h"

namespace numabench {

/// What one read() did; for tests and the client's bookkeeping.
struct ReadResult {
  BufferId buffer = kNoBuffer;
  bool hit = false;
  PageNumber evicted = kNoPage;  ///< the page that had to go, if any
};

/// Reads a page's 8 KiB into `destination` (nullptr when the pool has no page contents). May be
/// empty.
using PageReader = std::function<void(PageNumber page, std::byte* destination)>;

/// Not thread-safe: one process or thread each.
class Backend {
 public:
  using Location = BackendLocation;

  /// `pool` and `counters` outlive the backend; `location` says where the caller runs.
  Backend(BufferPool& pool, BackendCounters& counters, PageReader reader,
          std::function<Location()> location);
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// Pins the page's buffer; `ring` is nullptr except for bulk reads. Throws Error(kRun) when no
  /// buffer can be had, and whatever the reader throws: the page is then not pinned.
  ReadResult read(PageNumber page, BufferRing* ring = nullptr);
  /// Lets go of one pin of this backend.
  void unpin(BufferId buffer);
  const std::byte* contents(BufferId buffer) const;  ///< nullptr without page contents

  /// From now on everything is counted there.
  void count_into(BackendCounters& counters) { counters_ = &counters; }

  /// Hints for accesses to come, in the fast mode: first the entry of the map, some accesses later
  /// the descriptor it leads to. Nothing in the faithful mode.
  void prefetch_mapping(PageNumber page) const;
  void prefetch_descriptor(PageNumber page) const;

 private:
  /// A buffer without a page, pinned once by us.
  struct Victim {
    BufferId buffer = kNoBuffer;
    PageNumber evicted = kNoPage;
  };

  BufferId pin_resident(PageNumber page, bool in_ring);
  BufferId pin_hashed(PageNumber page, bool in_ring);
  BufferId pin_dense(PageNumber page, bool in_ring);
  bool pin_if_tagged(BufferId buffer, PageNumber page, bool in_ring);
  void pin(BufferId buffer, bool in_ring);
  void unpin_shared(BufferId buffer);

  /// Out of line, like make_valid(), to keep its stack frame out of the path of a hit.
  [[gnu::noinline]] ReadResult read_absent(PageNumber page, BufferRing* ring);
  Victim get_victim(BufferRing* ring);
  BufferId reuse_from(BufferRing& ring);
  bool invalidate(BufferId buffer, PageNumber& evicted);
  bool clear_state(BufferId buffer);
  void record_allocation(const Allocation& allocation);

  BufferId enter(PageNumber page, BufferId victim, bool in_ring);
  BufferId enter_hashed(PageNumber page, BufferId victim, bool in_ring);
  BufferId enter_dense(PageNumber page, BufferId victim, bool in_ring);
  void admit(PageNumber page, BufferId buffer);

  bool is_valid(BufferId buffer) const;
  [[gnu::noinline]] void make_valid(PageNumber page, BufferId buffer);
  bool start_io(BufferId buffer);
  void end_io(BufferId buffer, std::uint64_t result);  ///< kValid, or 0: failed

  /// What the first pin adds to a state, by its usage.
  using PinIncrements = std::array<std::uint64_t, 6>;
  static PinIncrements pin_increments(PoolPolicy::Usage rule, bool in_ring);

  BufferPool& pool_;
  BackendCounters* counters_;
  PageReader reader_;
  ReplacementStrategy strategy_;
  PrivateRefCounts pins_;
  const std::array<PinIncrements, 2> pin_increments_;  ///< without and with a ring
  const std::uint32_t admitted_usage_;
  const std::uint32_t reusable_usage_;
};

}  // namespace numabench
