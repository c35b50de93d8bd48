// The replacement policy of an embedded arm: one switch for each patch that was published, so that
// any prefix or ablation of a series is an arm.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace numabench {

struct PoolPolicy {
  /// Who touches the shared segment first, and so on which nodes it lies.
  enum class Memory {
    kFirstTouch,  ///< stock: whoever uses a page first
    kPrefault,    ///< the server touches every page at its start
    kInterleave,  ///< interleaved over the allowed nodes (only the segment, unlike numactl)
  };
  /// What the sweep knows of a buffer's use.
  enum class Usage {
    kCount,         ///< PostgreSQL's usage count, 0..5
    kSecondChance,  ///< one bit
    kHotCool,       ///< HOT/COOL states with a reference bit
  };
  /// A new page's usage.
  enum class Admission {
    kReferenced,  ///< counts as used once (stock)
    kProbation,   ///< must be used again before the hand comes
  };
  /// Which partition serves an allocation when the sweep is partitioned.
  enum class Balance {
    kOff,            ///< the home partition
    kPerAllocation,  ///< budgets of allocations (later versions of the patches)
    kPerTick,        ///< the choice is made at each tick of the hand (early versions)
  };
  /// The HOT/COOL stage's eviction.
  enum class Cooling {
    kInPlace,     ///< the sweep clears the reference bit, then cools, then claims (v8's code)
    kPreferCool,  ///< a first lap takes only COOL buffers; the background writer pre-cools (its
                  ///< text)
  };
  enum class Batch {
    kOff,
    kAuto,  ///< only with more than one node
    kForce,
  };
  /// How a page's buffer is found.
  enum class Mapping {
    kHash,   ///< PostgreSQL's: a hash table under 128 partition locks (the faithful mode)
    kDense,  ///< an array indexed by page, pinned optimistically, looked up in prefetched batches
             ///< (the fast mode: for simulating big pools quickly)
  };

  Memory memory = Memory::kFirstTouch;
  bool buffers_by_node = false;  ///< each partition's descriptors and pages on its node
  /// Partitions of the clock sweep: 0 = one a node with memory, 1 = not partitioned.
  int partitions = 1;
  Balance balance = Balance::kOff;
  bool scan_all_partitions = false;  ///< go on to the next partition when this one is exhausted
  int home_refresh = 1;              ///< allocations between two looks at the CPU a backend runs on
  Usage usage = Usage::kCount;
  Admission admission = Admission::kReferenced;
  int bound =
      0;  ///< most chances one allocation spends; then it takes the next unpinned buffer; 0: none
  bool background_writer = true;
  bool background_writer_spends = false;  ///< it spends chances ahead of the hand while allocations
                                          ///< give up at the bound
  Batch batch = Batch::kOff;
  int batch_size = 32;                  ///< ids claimed at once: a cache line of them
  Cooling cooling = Cooling::kInPlace;  ///< with Usage::kHotCool
  bool freelist = false;                ///< never-used buffers are handed out before the sweep
  bool rings = true;                    ///< bulk reads recycle a ring of buffers
  Mapping mapping = Mapping::kHash;

  /// Whether it has no meaning on a host whose nodes cannot be trusted.
  bool goes_by_nodes() const {
    return buffers_by_node || partitions == 0 || memory == Memory::kInterleave;
  }
  bool operator==(const PoolPolicy&) const = default;
};

/// One switch as configs spell it.
struct PolicyOption {
  std::string name;                 ///< "scan_all_partitions"
  std::vector<std::string> values;  ///< of an enumeration or "true"/"false"; empty for integers
  std::string description;
};

const std::vector<PolicyOption>& policy_options();

/// Sets one switch from its text. Throws Error(kUsage) with a suggestion for an unknown name or
/// value.
void set_policy_option(PoolPolicy& policy, std::string_view name, const std::string& value);

/// The text that set_policy_option() takes.
std::string policy_option(const PoolPolicy& policy, std::string_view name);

/// Throws Error(kUsage) for switches that contradict each other (prefer_cool without hot_cool, …).
void check_policy(const PoolPolicy& policy);

}  // namespace numabench
