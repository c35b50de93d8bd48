// Where the memory of a pool lies: from the kernel's account to the records and metrics of a run.
#pragma once

#include <vector>

#include "hosts/process_stats.h"
#include "hosts/shared_region.h"
#include "reports/metric.h"
#include "reports/store.h"

namespace numabench {

/// By node and page size, of regions that this process has mapped (move_pages).
std::vector<PoolMemoryRecord> pool_memory(const std::vector<SharedRegion*>& regions,
                                          PoolMemoryRecord::Moment moment);

/// The same of mappings of another process (numa_maps).
std::vector<PoolMemoryRecord> pool_memory(const std::vector<NumaMapping>& mappings,
                                          PoolMemoryRecord::Moment moment);

/// pool_bytes_nodeN for each node that has some, and huge_page_bytes. Absent, with the reason,
/// without records.
std::vector<MetricValue> pool_memory_values(const std::vector<PoolMemoryRecord>& records);

}  // namespace numabench
