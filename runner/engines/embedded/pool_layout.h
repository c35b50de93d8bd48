// What a pool is made of, before there is one: partitions, and bytes of its regions.
#pragma once

#include <cstddef>

#include "runner/engines/embedded/buffer_pool.h"

namespace numabench {

/// Of the sweep. Throws Error(kUsage) when the pool or its nodes do not divide into so many.
int partition_count(const PoolPolicy& policy, const PoolShape& shape);

/// The node whose memory a partition gets with PoolPolicy::buffers_by_node.
int node_of_partition(const PoolShape& shape, int partitions, int partition);

struct PoolBytes {
  std::size_t descriptors = 0;  ///< and the hands
  std::size_t mapping = 0;
  std::size_t contents = 0;  ///< 0 without page contents
};
PoolBytes pool_bytes(const PoolPolicy& policy, const PoolShape& shape);

}  // namespace numabench
