#include "workloads/table_scan.h"

#include <fmt/format.h>

#include "hosts/error.h"
#include "workloads/accounts.h"

namespace numabench {

void TableScanStream::next(std::span<Access> out) {
  for (Access& access : out) access = step();
}

Access TableScanStream::step() {
  const Extent& extent = extents_[extent_];
  Access access{extent.first_page + offset_, extent.flags};
  if (++offset_ == extent.pages) {
    offset_ = 0;
    if (++extent_ == extents_.size()) {
      extent_ = 0;
      access.flags |= Access::kEndsTransaction;
    }
  }
  return access;
}

Dataset shared_dataset(std::string_view workload, const WorkloadSize& size, std::uint64_t count,
                       const std::function<std::string(std::uint64_t)>& name_of) {
  const std::uint64_t pages = size.working_set_pages();
  if (pages < count) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} has {} relations in all for a working set of {} pages", workload,
                            count, pages),
                "choose fewer of them, or a larger pool or ratio");
  }
  Dataset dataset;
  for (std::uint64_t i = 0; i < count; i++) {
    dataset.add(name_of(i), Relation::Kind::kHeap, pages / count + (i < pages % count ? 1 : 0));
  }
  return dataset;
}

std::uint64_t equal_pages(const Dataset& dataset) {
  const std::uint64_t count = dataset.relations().size();
  return (dataset.pages() + count / 2) / count;
}

std::vector<SqlTable> scanned_tables(std::uint64_t count, std::uint64_t partitions,
                                     std::uint64_t pages) {
  std::vector<SqlTable> tables;
  for (std::uint64_t i = 1; i <= count; i++) {
    tables.push_back({.name = fmt::format("table_{}", i),
                      .rows = partitions * pages * Accounts::kRowsPerHeapPage,
                      .partitions = static_cast<int>(partitions),
                      .primary_key = false});
  }
  return tables;
}

std::vector<std::string> table_names(const std::vector<SqlTable>& tables) {
  std::vector<std::string> names;
  for (const SqlTable& table : tables) names.push_back(table.name);
  return names;
}

}  // namespace numabench
