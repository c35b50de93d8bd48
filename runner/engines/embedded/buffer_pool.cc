#include "runner/engines/embedded/buffer_pool.h"

#include <fmt/format.h>

#include <filesystem>

#include "hosts/error.h"
#include "runner/engines/embedded/buffer_descriptor.h"
#include "runner/engines/embedded/clock_sweep.h"
#include "runner/engines/embedded/dense_map.h"
#include "runner/engines/embedded/mapping_table.h"

namespace numabench {
namespace {

int partitions_of(const PoolPolicy& policy, const PoolShape& shape) {
  const int nodes = static_cast<int>(shape.nodes.size());
  const int partitions = policy.partitions == 0 ? nodes : policy.partitions;
  if (partitions > 1 && partitions % nodes != 0) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} partitions do not divide over {} nodes", partitions, nodes),
                "use a multiple of the number of nodes, or 0 for one a node");
  }
  if (static_cast<std::uint32_t>(partitions) > shape.buffers) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} partitions of a pool of {} buffers", partitions, shape.buffers),
                "use a larger pool or fewer partitions");
  }
  return partitions;
}

bool node_exists(int node) {
  return std::filesystem::exists(fmt::format("/sys/devices/system/node/node{}", node));
}

}  // namespace

BufferPool::BufferPool(const PoolPolicy& policy, const PoolShape& shape)
    : policy_(policy), shape_(shape), partitions_(partitions_of(policy, shape)) {
  reserve_memory();
  set_numa_policy();
  // Only now is memory touched: the sweep's weights and the mapping's locks.
  const std::size_t descriptor_bytes = sizeof(BufferDescriptor) * shape_.buffers;
  sweep_ =
      std::make_unique<ClockSweep>(descriptor_region_.data() + (descriptor_bytes + 127) / 128 * 128,
                                   shape_.buffers, partitions_);
  if (policy_.mapping == PoolPolicy::Mapping::kDense) {
    dense_mapping_ = std::make_unique<DenseMap>(mapping_region_.data(), shape_.dataset_pages);
  } else {
    hash_mapping_ = std::make_unique<MappingTable>(mapping_region_.data(), shape_.buffers);
  }
}

BufferPool::~BufferPool() = default;

void BufferPool::reserve_memory() {
  const std::size_t descriptor_bytes = sizeof(BufferDescriptor) * shape_.buffers + 128;
  descriptor_region_ =
      SharedRegion(descriptor_bytes + ClockSweep::bytes(partitions_), shape_.huge_pages);
  descriptors_ = reinterpret_cast<BufferDescriptor*>(descriptor_region_.data());
  mapping_region_ = SharedRegion(policy_.mapping == PoolPolicy::Mapping::kDense
                                     ? DenseMap::bytes(shape_.dataset_pages)
                                     : MappingTable::bytes(shape_.buffers),
                                 shape_.huge_pages);
  regions_ = {&descriptor_region_, &mapping_region_};
  if (shape_.page_contents) {
    contents_region_ = SharedRegion(kPageBytes * shape_.buffers, shape_.huge_pages);
    regions_.push_back(&contents_region_);
  }
}

void BufferPool::set_numa_policy() {
  if (policy_.memory == PoolPolicy::Memory::kInterleave) {
    for (SharedRegion* region : regions_) {
      region->set_policy(0, region->size(), MemoryPolicy::kInterleave,
                         IdSet(shape_.nodes.begin(), shape_.nodes.end()));
    }
  }
  if (policy_.buffers_by_node && shape_.nodes.size() > 1) {
    for (int partition = 0; partition < partitions_; ++partition) bind_partition(partition);
  }
}

// A memory page that two partitions share goes to the later one: with 4 KiB pages that is at most
// 63 descriptors and half a buffer a boundary, with huge pages up to 2 MiB of either.
void BufferPool::bind_partition(int partition) {
  const auto nodes = static_cast<int>(shape_.nodes.size());
  const auto node = static_cast<std::size_t>(partition * nodes / partitions_);
  if (!node_exists(shape_.nodes[node])) return;
  const PartitionLayout layout(shape_.buffers, partitions_);
  const std::size_t first = layout.first_buffer(partition);
  const std::size_t count = layout.size(partition);
  const auto bind = [&](SharedRegion& region, std::size_t stride) {
    region.set_policy(first * stride, count * stride, MemoryPolicy::kBind, {shape_.nodes[node]});
  };
  bind(descriptor_region_, sizeof(BufferDescriptor));
  if (shape_.page_contents) bind(contents_region_, kPageBytes);
}

void BufferPool::place_memory(bool touch_pages) {
  descriptor_region_.prefault();
  mapping_region_.prefault();
  const bool prefaults = touch_pages || policy_.memory == PoolPolicy::Memory::kPrefault;
  if (shape_.page_contents && prefaults) contents_region_.prefault();
}

double BufferPool::laps() const {
  std::uint64_t advances = 0;
  for (int p = 0; p < partitions_; ++p) advances += sweep_->position(p);
  return static_cast<double>(advances) / static_cast<double>(shape_.buffers);
}

std::uint32_t BufferPool::occupied_buffers() const {
  std::uint32_t occupied = 0;
  for (BufferId buffer = 0; buffer < shape_.buffers; ++buffer) {
    const std::uint64_t state = descriptors_[buffer].state.load(std::memory_order_relaxed);
    occupied += buffer_state::has(state, buffer_state::kTagValid) ? 1 : 0;
  }
  return occupied;
}

BufferId BufferPool::find(PageNumber page) const {
  if (dense_mapping_) return dense_mapping_->find(page);
  const MappingLock lock(*hash_mapping_, page, MappingLock::Mode::kShared);
  return hash_mapping_->find(page);
}

bool BufferPool::is_resident(PageNumber page) const { return find(page) != kNoBuffer; }

int BufferPool::usage(BufferId buffer) const {
  const std::uint64_t state = descriptors_[buffer].state.load(std::memory_order_relaxed);
  return static_cast<int>(buffer_state::usage(state));
}

int BufferPool::weight(int from_partition, int to_partition) const {
  return static_cast<int>(sweep_->weight(from_partition, to_partition));
}

std::byte* BufferPool::contents(BufferId buffer) const {
  return shape_.page_contents ? contents_region_.data() + kPageBytes * buffer : nullptr;
}

}  // namespace numabench
