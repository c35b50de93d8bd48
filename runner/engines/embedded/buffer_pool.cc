#include "runner/engines/embedded/buffer_pool.h"

#include <fmt/format.h>

#include <filesystem>

#include "runner/engines/embedded/buffer_descriptor.h"
#include "runner/engines/embedded/clock_sweep.h"
#include "runner/engines/embedded/dense_map.h"
#include "runner/engines/embedded/mapping_table.h"
#include "runner/engines/embedded/pool_layout.h"

namespace numabench {
namespace {

bool node_exists(int node) {
  return std::filesystem::exists(fmt::format("/sys/devices/system/node/node{}", node));
}

}  // namespace

BufferPool::BufferPool(const PoolPolicy& policy, const PoolShape& shape)
    : policy_(policy), shape_(shape), partitions_(partition_count(policy, shape)) {
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
  const PoolBytes bytes = pool_bytes(policy_, shape_);
  descriptor_region_ = SharedRegion(bytes.descriptors, shape_.huge_pages);
  descriptors_ = reinterpret_cast<BufferDescriptor*>(descriptor_region_.data());
  mapping_region_ = SharedRegion(bytes.mapping, shape_.huge_pages);
  regions_ = {&descriptor_region_, &mapping_region_};
  if (shape_.page_contents) {
    contents_region_ = SharedRegion(bytes.contents, shape_.huge_pages);
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
  const int node = node_of_partition(shape_, partitions_, partition);
  if (!node_exists(node)) return;
  const PartitionLayout layout(shape_.buffers, partitions_);
  const std::size_t first = layout.first_buffer(partition);
  const std::size_t count = layout.size(partition);
  const auto bind = [&](SharedRegion& region, std::size_t stride) {
    region.set_policy(first * stride, count * stride, MemoryPolicy::kBind, {node});
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
