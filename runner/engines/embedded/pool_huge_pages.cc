#include "runner/engines/embedded/pool_huge_pages.h"

#include "hosts/error.h"
#include "runner/engines/client_placement.h"
#include "runner/engines/embedded/buffer_descriptor.h"
#include "runner/engines/embedded/partition_layout.h"
#include "runner/engines/embedded/pool_layout.h"

namespace numabench {
namespace {

std::size_t pages_of(std::size_t bytes, std::size_t page_bytes) {
  return (bytes + page_bytes - 1) / page_bytes;
}

/// As BufferPool::bind_partition() binds `stride` bytes a buffer: a page that two partitions share
/// is the later one's.
void add_partitions(std::vector<HugePageDemand>& demands, const PartitionLayout& layout,
                    const PoolShape& shape, std::size_t stride, std::size_t page_bytes) {
  const std::size_t end = pages_of(stride * shape.buffers, page_bytes);
  for (int partition = 0; partition < layout.partitions(); ++partition) {
    const bool is_last = partition + 1 == layout.partitions();
    const auto first_page = [&](int of) { return layout.first_buffer(of) * stride / page_bytes; };
    const std::size_t pages = (is_last ? end : first_page(partition + 1)) - first_page(partition);
    demands.push_back(
        {MemoryPolicy::kBind, {node_of_partition(shape, layout.partitions(), partition)}, pages});
  }
}

/// Of the role of the first client, who fills the pool where there is no loader.
Placement filler_of(const CellSetup& setup) {
  const auto& roles = setup.placement.roles;
  const auto loader = roles.find("loader");
  if (loader != roles.end()) return loader->second;
  const auto client = roles.find(setup.workload.roles(setup.clients).front().name);
  return client == roles.end() ? Placement{} : client->second;
}

}  // namespace

std::vector<HugePageDemand> huge_page_demands(const PoolPolicy& policy, const PoolShape& shape,
                                              const Placement& server, const Placement& filler,
                                              std::size_t page_bytes) {
  const PartitionLayout layout(shape.buffers, partition_count(policy, shape));
  const bool by_node = policy.buffers_by_node && shape.nodes.size() > 1;
  const bool interleaved = policy.memory == PoolPolicy::Memory::kInterleave;
  const bool touched = server.touch || policy.memory == PoolPolicy::Memory::kPrefault;
  std::vector<HugePageDemand> demands;
  const auto add = [&](std::size_t bytes, const Placement& toucher) {
    HugePageDemand demand{toucher.memory, toucher.memory_nodes, pages_of(bytes, page_bytes)};
    if (interleaved) {
      demand.policy = MemoryPolicy::kInterleave;
      demand.nodes = IdSet(shape.nodes.begin(), shape.nodes.end());
    }
    demands.push_back(std::move(demand));
  };
  const PoolBytes bytes = pool_bytes(policy, shape);
  add(bytes.mapping, server);
  if (by_node) {
    add_partitions(demands, layout, shape, sizeof(BufferDescriptor), page_bytes);
    if (shape.page_contents) add_partitions(demands, layout, shape, kPageBytes, page_bytes);
  } else {
    add(bytes.descriptors, server);
    add(bytes.contents, touched ? server : filler);
  }
  return demands;
}

SharedRegion::HugePages definite_huge_pages(const CellSetup& setup, const PoolShape& shape) {
  const SharedRegion::HugePages asked = setup.experiment.huge_pages;
  const std::size_t page_bytes = count_huge_pages().page_bytes;
  if (asked == SharedRegion::HugePages::kOff || page_bytes == 0) return asked;
  const std::string lacking = huge_page_shortage(
      huge_page_demands(setup.arm.policy, shape, process_placement(setup.placement, "server"),
                        filler_of(setup), page_bytes));
  if (lacking.empty()) return asked;
  if (asked == SharedRegion::HugePages::kTry) return SharedRegion::HugePages::kOff;
  throw Error(ErrorKind::kPreflight, "huge_pages is on, but " + lacking,
              "reserve more there (/sys/devices/system/node/node*/hugepages; numabench doctor "
              "CONFIG --apply does it), or use huge_pages: try");
}

}  // namespace numabench
