// The buffer pool by brute force: the rules at the head of runner/engines/embedded/buffer_pool.h,
// written down a second time with vectors, maps and no thought for speed or concurrency. It is the
// truth that the real pool is held to (model_property_test.cc), and is itself held to examples
// worked out by hand (model_shape_test.cc).
//
// Start here: a ModelPool has everything that the backends share; a ModelBackend reads and unpins;
// a ModelRing is one bulk read's; ModelPool::cycle() is the background writer and the balancer.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "runner/config/pool_policy.h"
#include "runner/engines/embedded/backend.h"
#include "workloads/dataset.h"

namespace numabench {

struct ModelBuffer {
  std::optional<PageNumber> page;
  int refcount = 0;
  int usage = 0;
};

/// What the background writer remembers of a partition between two cycles.
struct ModelWriter {
  std::uint64_t position = 0;   ///< W
  std::uint64_t last_hand = 0;  ///< H_last
  std::uint64_t last_give_ups = 0;
  double smoothed = 0;    ///< s
  double density = 10.0;  ///< d
};

struct ModelPartition {
  BufferId first = 0;
  std::uint32_t size = 0;
  std::uint64_t hand = 0;      ///< H: hand positions given out since the pool was made
  std::uint64_t requests = 0;  ///< a_p of the balancer, since the last cycle
  std::uint64_t served = 0;    ///< since the last cycle
  std::uint64_t give_ups = 0;  ///< since the pool was made
  ModelWriter writer;
};

class ModelPool {
 public:
  ModelPool(const PoolPolicy& policy, const PoolShape& shape);

  const PoolPolicy& policy() const { return policy_; }
  int nodes() const { return static_cast<int>(shape_.nodes.size()); }
  int partitions() const { return static_cast<int>(partitions_.size()); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(buffers_.size()); }
  bool batched() const;

  ModelPartition& partition(int p) { return partitions_.at(static_cast<std::size_t>(p)); }
  ModelBuffer& buffer(BufferId id) { return buffers_.at(id); }
  int& weight(int from, int to);
  std::optional<BufferId> find(PageNumber page) const;
  std::uint32_t occupied_buffers() const;
  double laps() const;

  /// The next buffer that was never handed out, while the policy has a freelist and there is one.
  std::optional<BufferId> take_from_freelist();
  /// A backend's first pin of a buffer that holds its page.
  void pin_resident(BufferId id, bool with_ring);
  /// A victim, pinned, gets its new page. Returns the old one.
  std::optional<PageNumber> replace_page(BufferId victim, PageNumber page);

  /// The background writer and the balancer.
  void cycle();

 private:
  void rebalance();
  void write_ahead(ModelPartition& partition);

  PoolPolicy policy_;
  PoolShape shape_;
  std::vector<ModelBuffer> buffers_;
  std::vector<ModelPartition> partitions_;
  std::vector<std::vector<int>> weights_;
  BufferId never_used_ = 0;
};

/// One bulk read's ring.
class ModelRing {
 public:
  explicit ModelRing(std::uint32_t pool_buffers);

  /// Moves to the next slot.
  void advance();
  std::optional<BufferId>& slot() { return slots_.at(current_); }
  std::size_t size() const { return slots_.size(); }

 private:
  std::vector<std::optional<BufferId>> slots_;
  std::size_t current_;
};

/// BackendCounters, as far as the rules speak of them. A read that finds no buffer is an access and
/// nothing else.
struct ModelCounters {
  std::uint64_t accesses = 0;
  std::uint64_t reads = 0;
  std::uint64_t evictions = 0;
  std::uint64_t victims = 0;
  std::uint64_t ticks = 0;
  std::uint64_t forced = 0;
  std::uint64_t ring_reuses = 0;
  std::uint64_t victims_home = 0;
  std::uint64_t victims_foreign = 0;
  std::uint64_t tail = 0;  ///< most ticks of one allocation that the sweep served

  bool operator==(const ModelCounters&) const = default;
};

class ModelBackend {
 public:
  ModelBackend(ModelPool& pool, std::function<Backend::Location()> location);

  /// Nothing when no buffer can be had.
  std::optional<ReadResult> read(PageNumber page, ModelRing* ring = nullptr);
  void unpin(BufferId buffer);

  const ModelCounters& counters() const { return counters_; }

 private:
  /// One allocation's progress.
  struct Sweep {
    std::uint64_t ticks = 0;
    int chances_spent = 0;
    std::uint32_t successive_pinned = 0;
  };

  std::optional<BufferId> find_victim(ModelRing* ring);
  bool reusable(std::optional<BufferId> slot) const;
  std::optional<BufferId> allocate();
  void look_up_home();
  std::optional<BufferId> sweep();
  std::optional<BufferId> sweep_home_or_target(Sweep& sweep);
  std::optional<BufferId> sweep_partition(int partition, Sweep& sweep);
  std::optional<BufferId> sweep_by_tick(Sweep& sweep);
  std::optional<BufferId> tick(int partition, Sweep& sweep);
  BufferId next_id(int partition);
  int take_from_budget();
  void count_victim(BufferId victim, const Sweep& sweep);

  ModelPool& pool_;
  std::function<Backend::Location()> location_;
  ModelCounters counters_;
  std::map<BufferId, int> pins_;
  std::vector<std::deque<BufferId>> leftovers_;  ///< of each partition's batch
  std::uint64_t allocations_ = 0;
  std::optional<int> home_;
  int target_ = 0;
  int budget_ = 0;
};

}  // namespace numabench
