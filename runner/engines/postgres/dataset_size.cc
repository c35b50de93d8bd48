// What a dataset is made of and will take on disk, before it is there.
#include <fmt/format.h>

#include <algorithm>

#include "runner/engines/postgres/dataset_load.h"
#include "runner/engines/postgres/dataset_store.h"
#include "workloads/accounts.h"
#include "workloads/dataset.h"

namespace numabench {
namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;
/// The catalogs of three databases and the first segment of the WAL.
constexpr std::uint64_t kInitdbBytes = 48 * kMebibyte;
/// wal_level minimal: tables and indexes that are made in the transaction that fills them write
/// none. What is left fits into a few segments of 16 MiB.
constexpr std::uint64_t kWalBytes = 64 * kMebibyte;
/// Of a sorted run on disk: the index tuple, its length and its block's share.
constexpr std::uint64_t kSortBytesPerRow = 24;
/// Free space and visibility maps: three pages for the first of a relation's pages, then a byte and
/// two bits for each.
constexpr std::uint64_t kMapPages = 4;
constexpr std::uint64_t kPagesPerMapPage = 2000;

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

/// The levels of a B-tree over `rows`, up to the one that is a single page, and its metapage. An
/// index on nothing is the metapage alone.
std::uint64_t index_pages(std::uint64_t rows) {
  if (rows == 0) return 1;
  std::uint64_t level = divide_up(rows, Accounts::kRowsPerLeaf);
  std::uint64_t pages = 1 + level;
  while (level > 1) {
    level = divide_up(level, Accounts::kLeavesPerInner);
    pages += level;
  }
  return pages;
}

std::uint64_t heap_pages(std::uint64_t rows) { return divide_up(rows, Accounts::kRowsPerHeapPage); }

/// Pages of the table and its index; with `maps`, also of what lies beside its main fork.
std::uint64_t table_pages(const SqlTable& table, bool maps) {
  std::uint64_t pages = 0;
  for (const RowRange& range : partition_ranges(table)) {
    const std::uint64_t heap = heap_pages(range.rows());
    pages += heap;
    if (table.primary_key) pages += index_pages(range.rows());
    if (maps) pages += kMapPages + heap / kPagesPerMapPage;
  }
  return pages;
}

/// The primary key of a table is sorted on disk when it is larger than the memory for it; one table
/// after the other.
std::uint64_t sort_bytes(const SqlWorkload& workload) {
  std::uint64_t most = 0;
  for (const SqlTable& table : workload.tables) {
    if (!table.primary_key) continue;
    for (const RowRange& range : partition_ranges(table)) {
      most = std::max(most, range.rows() * kSortBytesPerRow);
    }
  }
  return most > kLoadSortMemoryBytes ? most : 0;
}

}  // namespace

std::string dataset_description(const SqlWorkload& workload) {
  std::string text;
  for (const SqlTable& table : workload.tables) {
    text +=
        fmt::format("table {}, {} rows, {} partitions, {}\n", sql_identifier(table.name),
                    table.rows, table.partitions, table.primary_key ? "primary key" : "no index");
  }
  for (const std::string& statement : workload.setup) text += statement + ";\n";
  return text;
}

std::uint64_t projected_relation_bytes(const SqlWorkload& workload) {
  std::uint64_t pages = 0;
  for (const SqlTable& table : workload.tables) pages += table_pages(table, false);
  return pages * kPageBytes;
}

std::uint64_t projected_bytes(const SqlWorkload& workload) {
  std::uint64_t pages = 0;
  for (const SqlTable& table : workload.tables) pages += table_pages(table, true);
  return pages * kPageBytes + sort_bytes(workload) + kInitdbBytes + kWalBytes;
}

}  // namespace numabench
