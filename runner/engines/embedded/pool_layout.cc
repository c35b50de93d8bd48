#include "runner/engines/embedded/pool_layout.h"

#include <fmt/format.h>

#include "hosts/error.h"
#include "runner/engines/embedded/buffer_descriptor.h"
#include "runner/engines/embedded/clock_sweep.h"
#include "runner/engines/embedded/dense_map.h"
#include "runner/engines/embedded/mapping_table.h"

namespace numabench {

int partition_count(const PoolPolicy& policy, const PoolShape& shape) {
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

int node_of_partition(const PoolShape& shape, int partitions, int partition) {
  const auto nodes = static_cast<int>(shape.nodes.size());
  return shape.nodes[static_cast<std::size_t>(partition * nodes / partitions)];
}

PoolBytes pool_bytes(const PoolPolicy& policy, const PoolShape& shape) {
  PoolBytes bytes;
  bytes.descriptors = sizeof(BufferDescriptor) * shape.buffers + 128 +
                      ClockSweep::bytes(partition_count(policy, shape));
  bytes.mapping = policy.mapping == PoolPolicy::Mapping::kDense
                      ? DenseMap::bytes(shape.dataset_pages)
                      : MappingTable::bytes(shape.buffers);
  if (shape.page_contents) bytes.contents = kPageBytes * shape.buffers;
  return bytes;
}

}  // namespace numabench
