#include "runner/engines/pool_memory.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <utility>

namespace numabench {
namespace {

constexpr std::uint64_t kLargestBasePage = 65536;

/// Sums pages by node and page size.
class PageCensus {
 public:
  void add(const std::map<int, std::uint64_t>& bytes_by_node, std::uint64_t page_bytes) {
    for (const auto& [node, bytes] : bytes_by_node)
      pages_[{node, page_bytes}] += bytes / page_bytes;
  }

  std::vector<PoolMemoryRecord> records(PoolMemoryRecord::Moment moment) const {
    std::vector<PoolMemoryRecord> records;
    for (const auto& [key, pages] : pages_) {
      records.push_back({moment, key.first, key.second, pages});
    }
    return records;
  }

 private:
  std::map<std::pair<int, std::uint64_t>, std::uint64_t> pages_;
};

}  // namespace

std::vector<PoolMemoryRecord> pool_memory(const std::vector<SharedRegion*>& regions,
                                          PoolMemoryRecord::Moment moment) {
  PageCensus census;
  for (const SharedRegion* region : regions) {
    census.add(region->bytes_per_node(), region->page_bytes());
  }
  return census.records(moment);
}

std::vector<PoolMemoryRecord> pool_memory(const std::vector<NumaMapping>& mappings,
                                          PoolMemoryRecord::Moment moment) {
  PageCensus census;
  for (const NumaMapping& mapping : mappings) {
    census.add(mapping.bytes_by_node, mapping.page_bytes);
  }
  return census.records(moment);
}

std::vector<MetricValue> pool_memory_values(const std::vector<PoolMemoryRecord>& records) {
  if (records.empty()) {
    const std::string reason =
        "the kernel does not say where the pool's pages lie: one without NUMA, or one that shows "
        "no /proc/PID/numa_maps";
    return {MetricValue::absent("pool_bytes_node0", reason),
            MetricValue::absent("huge_page_bytes", reason)};
  }
  std::map<int, double> by_node;
  double huge = 0;
  for (const PoolMemoryRecord& record : records) {
    const auto bytes = static_cast<double>(record.pages * record.page_bytes);
    by_node[record.node] += bytes;
    huge += record.page_bytes > kLargestBasePage ? bytes : 0;
  }
  std::vector<MetricValue> values;
  for (const auto& [node, bytes] : by_node) {
    values.push_back(MetricValue::of(fmt::format("pool_bytes_node{}", node), bytes));
  }
  values.push_back(MetricValue::of("huge_page_bytes", huge));
  return values;
}

}  // namespace numabench
