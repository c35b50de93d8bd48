#include "runner/engines/embedded/partition_choice.h"

#include "runner/engines/embedded/clock_sweep.h"

namespace numabench {

PartitionChoice::PartitionChoice(BufferPool& pool, std::function<BackendLocation()> location)
    : pool_(pool),
      location_(std::move(location)),
      partitions_(pool.partitions()),
      partitions_per_node_(
          std::max(1, pool.partitions() / static_cast<int>(pool.shape().nodes.size()))) {}

void PartitionChoice::begin_allocation() {
  if (allocations_to_refresh_ == 0) {
    allocations_to_refresh_ = std::max(1, pool_.policy().home_refresh);
    const int home = partitions_ == 1 ? 0 : home_of(location_());
    if (home != home_) set_home(home);
  }
  --allocations_to_refresh_;
}

int PartitionChoice::home_of(const BackendLocation& location) const {
  return location.node_index * partitions_per_node_ + location.cpu % partitions_per_node_;
}

void PartitionChoice::set_home(int home) {
  home_ = home;
  target_ = home;
  budget_ = pool_.sweep().weight(home, home);
}

int PartitionChoice::take_turn() {
  if (budget_ == 0) move_on();
  --budget_;
  return target_;
}

void PartitionChoice::move_on() {
  for (int step = 1; step <= partitions_; ++step) {
    const int candidate = (target_ + step) % partitions_;
    budget_ = pool_.sweep().weight(home_, candidate);
    if (budget_ > 0) {
      target_ = candidate;
      return;
    }
  }
  // Repeated halving has rounded every weight to zero: stay.
  budget_ = 1;
}

}  // namespace numabench
