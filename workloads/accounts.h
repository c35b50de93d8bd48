// The pages of pgbench_accounts and of its primary key, as PostgreSQL packs them, and which of them
// a query touches.
#pragma once

#include <cstdint>

#include "workloads/dataset.h"
#include "workloads/workload.h"

namespace numabench {

/// What `ratio` × pool is the size of.
enum class RatioOf {
  kWorkingSet,  ///< all pages that the workload touches
  kHeap,        ///< the heap alone, as in the published runs
};

/// Rows are numbered 0 .. rows() - 1 in the order of their key, which is also the order of the
/// heap. The dataset is the heap, then the index as root, inner pages, leaves.
///
/// How full pages are (8192-byte pages, 24-byte page header, 4-byte line pointers, 8-byte
/// alignment):
/// - heap, fillfactor 100: a row is a 23-byte header padded to 24, three int4, and char(84) with a
///   1-byte length: 121 bytes, aligned 128, 132 with its line pointer; 8168 / 132 = 61 rows.
/// - B-tree pages lose 16 more bytes to their special space, and a key of int4 is a tuple of
///   8 + 4 bytes aligned to 16, 20 with its line pointer; 8152 bytes are left for them.
/// - leaf, fillfactor 90: 819 bytes stay free, (8152 - 819) / 20 = 366 rows.
/// - inner page, fillfactor 70: 2457 bytes stay free, (8152 - 2457) / 20 = 284 children.
/// The tree has one root over the inner pages at every size. PostgreSQL would put a fourth level
/// over more than 284 inner pages (29.5 million rows); its few pages are never evicted, and without
/// it a query is four accesses in all cells of the embedded engine (server_accesses() has the
/// server's).
class Accounts {
 public:
  static constexpr std::uint64_t kRowsPerHeapPage = 61;
  static constexpr std::uint64_t kRowsPerLeaf = 366;
  static constexpr std::uint64_t kLeavesPerInner = 284;
  static constexpr std::size_t kQueryAccesses = 4;

  /// `heap_pages` > 0, all full. Throws Error(kUsage) when there are too many pages for a Dataset.
  explicit Accounts(std::uint64_t heap_pages);

  /// The table whose pages are nearest to ratio × pool from below, but at least one heap page.
  static Accounts of_size(const WorkloadSize& size, RatioOf ratio_of);

  const Dataset& dataset() const { return dataset_; }
  std::uint64_t rows() const { return heap_pages_ * kRowsPerHeapPage; }

  /// Buffers that a query by key asks a PostgreSQL server for: one a level of its index, and the
  /// heap page. A page that is the root holds one more than the others: 367 rows where it is a leaf
  /// (2 buffers), 285 children above (3 buffers up to 104,310 rows, 4 up to 29.6 million, then 5).
  int server_accesses() const;
  /// The same of a range of `range_rows` rows from a random one on, on average: leaves and heap
  /// pages are asked for once each.
  int server_range_accesses(std::uint64_t range_rows) const;

  PageNumber heap_page(std::uint64_t row) const {
    return static_cast<PageNumber>(row / kRowsPerHeapPage);
  }
  PageNumber root_page() const { return root_; }
  PageNumber inner_page(std::uint64_t row) const {
    return root_ + 1 + static_cast<PageNumber>(row / (kRowsPerLeaf * kLeavesPerInner));
  }
  PageNumber leaf_page(std::uint64_t row) const {
    return first_leaf_ + static_cast<PageNumber>(row / kRowsPerLeaf);
  }

  /// Writes the kQueryAccesses accesses of a query by key: root, inner, leaf, heap. All carry
  /// `flags`, the last one kEndsTransaction too.
  void query(std::uint64_t row, std::uint8_t flags, Access* out) const {
    out[0] = {root_, flags};
    out[1] = {inner_page(row), flags};
    out[2] = {leaf_page(row), flags};
    out[3] = {heap_page(row), static_cast<std::uint8_t>(flags | Access::kEndsTransaction)};
  }

 private:
  std::uint64_t heap_pages_;
  PageNumber root_;
  PageNumber first_leaf_;
  Dataset dataset_;
};

}  // namespace numabench
