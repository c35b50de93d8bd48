#include "reports/comparison_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "hosts/units.h"

namespace numabench {
namespace {

/// A held working set is rounded to pages and rows, differently for each pool.
constexpr double kSameSize = 1.01;

std::string family_of(const CellRecord& cell) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", cell.workload, cell.workload_parameters, cell.clients,
                     cell.placement, cell.regime);
}

/// One representative of each group of nearly equal sizes, ascending.
std::vector<std::uint64_t> distinct_sizes(std::vector<std::uint64_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  std::vector<std::uint64_t> distinct;
  for (const std::uint64_t size : sizes) {
    if (distinct.empty() ||
        static_cast<double>(size) > kSameSize * static_cast<double>(distinct.back())) {
      distinct.push_back(size);
    }
  }
  return distinct;
}

std::string title_of(const CellRecord& cell, const char* size_name, std::uint64_t size_bytes) {
  return fmt::format("{} · {} {} · {} client{} · placement {} · regime {}", cell.workload,
                     size_name, format_bytes(static_cast<double>(size_bytes)), cell.clients,
                     cell.clients == 1 ? "" : "s", cell.placement, cell.regime);
}

}  // namespace

TableBuilder::TableBuilder(const std::vector<CellRecord>& cells) {
  std::map<std::string, std::set<std::uint64_t>> pools;
  std::map<std::string, std::vector<std::uint64_t>> working_sets;
  for (const CellRecord& cell : cells) {
    pools[family_of(cell)].insert(cell.pool_bytes);
    working_sets[family_of(cell)].push_back(cell.working_set_bytes);
  }
  for (auto& [family, sizes] : working_sets) {
    std::vector<std::uint64_t> distinct = distinct_sizes(std::move(sizes));
    if (distinct.size() < pools[family].size()) held_working_sets_[family] = std::move(distinct);
  }
}

void TableBuilder::add(ComparisonRow row, int rank) {
  const CellRecord cell = row.cell;
  add_below(cell, std::move(row), rank);
}

void TableBuilder::add_below(const CellRecord& cell, ComparisonRow row, int rank) {
  const HeldSize held = held_size(cell);
  PlacedTable& table = tables_[fmt::format("{}\n{}", family_of(cell), held.bytes)];
  table.title = title_of(cell, held.name, held.bytes);
  if (table.rows.empty()) table.position = cell.position;
  table.position = std::min(table.position, cell.position);
  table.rows.push_back({rank, std::move(row)});
}

std::vector<ComparisonTable> TableBuilder::take() {
  std::vector<PlacedTable> placed;
  for (auto& [key, table] : tables_) placed.push_back(std::move(table));
  tables_.clear();
  std::sort(placed.begin(), placed.end(),
            [](const PlacedTable& a, const PlacedTable& b) { return a.position < b.position; });

  std::vector<ComparisonTable> tables;
  for (PlacedTable& source : placed) {
    std::stable_sort(
        source.rows.begin(), source.rows.end(), [](const PlacedRow& a, const PlacedRow& b) {
          return std::pair(a.row.cell.ratio, a.rank) < std::pair(b.row.cell.ratio, b.rank);
        });
    ComparisonTable& table = tables.emplace_back();
    table.title = std::move(source.title);
    for (PlacedRow& row : source.rows) table.rows.push_back(std::move(row.row));
  }
  return tables;
}

TableBuilder::HeldSize TableBuilder::held_size(const CellRecord& cell) const {
  const auto held = held_working_sets_.find(family_of(cell));
  if (held == held_working_sets_.end()) return {"pool", cell.pool_bytes};
  // The largest representative that is not above this cell's working set is its own group's.
  const auto above =
      std::upper_bound(held->second.begin(), held->second.end(), cell.working_set_bytes);
  return {"working set", *std::prev(above)};
}

}  // namespace numabench
