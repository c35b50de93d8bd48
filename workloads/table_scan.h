// What the workloads that read whole relations have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/sql_workload.h"
#include "workloads/workload.h"

namespace numabench {

/// A run of pages that are read in sequence.
struct Extent {
  PageNumber first_page;
  PageNumber pages;
  std::uint8_t flags;
};

/// The accesses of a client that reads the same extents again and again, each time from their first
/// page to their last.
class TableScanStream : public AccessStream {
 public:
  /// At least one extent, none of them empty.
  explicit TableScanStream(std::vector<Extent> extents) : extents_(std::move(extents)) {}

  void next(std::span<Access> out) override;

 private:
  Access step();

  std::vector<Extent> extents_;
  std::size_t extent_ = 0;
  PageNumber offset_ = 0;
};

/// `size.working_set_pages()` shared among `count` relations, of equal size but for a page;
/// `name_of` is given their 0-based numbers. Throws Error(kUsage) when there is less than a page
/// for each.
Dataset shared_dataset(std::string_view workload, const WorkloadSize& size, std::uint64_t count,
                       const std::function<std::string(std::uint64_t)>& name_of);
/// The pages of each relation of `dataset` where all must be equal, to the nearest.
std::uint64_t equal_pages(const Dataset& dataset);

/// `count` tables named table_1, table_2, … without a primary key, each with `partitions`
/// partitions of `pages` full pages.
std::vector<SqlTable> scanned_tables(std::uint64_t count, std::uint64_t partitions,
                                     std::uint64_t pages);
std::vector<std::string> table_names(const std::vector<SqlTable>& tables);

}  // namespace numabench
