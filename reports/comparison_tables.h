// Which cells stand in one table, and in what order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/comparison.h"

namespace numabench {

/// Collects rows and sorts them into tables. Tables come in the order of their first cell in the
/// plan; rows by ratio, then rank, then in the order they were added.
class TableBuilder {
 public:
  /// `cells`: all of the experiment, selected or not. They tell whether it holds the pool or the
  /// working set: the one with fewer sizes is held, the pool when both have as many.
  explicit TableBuilder(const std::vector<CellRecord>& cells);

  /// Adds `row` to the table of its own cell.
  void add(ComparisonRow row, int rank);
  /// Adds `row` to the table of `cell`, a cell of this experiment: for the row of another
  /// experiment.
  void add_below(const CellRecord& cell, ComparisonRow row, int rank);
  /// The tables; the builder is empty afterwards.
  std::vector<ComparisonTable> take();

 private:
  struct PlacedRow {
    int rank = 0;
    ComparisonRow row;
  };
  struct PlacedTable {
    std::string title;
    int position = 0;  ///< the first cell's in the plan
    std::vector<PlacedRow> rows;
  };
  /// The size that the table of `cell` holds while the ratio varies.
  struct HeldSize {
    const char* name = "";
    std::uint64_t bytes = 0;
  };
  HeldSize held_size(const CellRecord& cell) const;

  /// By family (all factors but arm, pool and ratio): the working sets it holds; none: it holds
  /// pools.
  std::map<std::string, std::vector<std::uint64_t>> held_working_sets_;
  std::map<std::string, PlacedTable> tables_;  ///< by family and held size
};

}  // namespace numabench
