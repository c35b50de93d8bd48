// Which partition serves a backend's next allocation: its home, or another by the balancer's
// budgets.
#pragma once

#include <cstdint>
#include <functional>

#include "runner/engines/embedded/buffer_pool.h"

namespace numabench {

/// Where a backend runs at the moment.
struct BackendLocation {
  int node_index = 0;  ///< index in PoolShape::nodes
  int cpu = 0;
};

/// One backend's view of the partitions (HOME and BALANCE of the rules).
class PartitionChoice {
 public:
  PartitionChoice(BufferPool& pool, std::function<BackendLocation()> location);

  /// Call once an allocation: looks at the CPU again when it is time to.
  void begin_allocation();
  int home() const { return home_; }
  /// Takes one from the budget of the partition that it returns.
  int take_turn();

 private:
  int home_of(const BackendLocation& location) const;
  void set_home(int home);
  void move_on();

  BufferPool& pool_;
  std::function<BackendLocation()> location_;
  int partitions_;
  int partitions_per_node_;
  int allocations_to_refresh_ = 0;
  int home_ = -1;  ///< none before the first allocation
  int target_ = 0;
  std::uint32_t budget_ = 0;
};

}  // namespace numabench
