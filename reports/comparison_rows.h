// One experiment as read from the store, and the row that a cell of it becomes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/comparison.h"

namespace numabench {

/// Everything a comparison needs of one experiment.
struct ExperimentData {
  ExperimentRecord experiment;
  HostRecord host;
  std::vector<ArmRecord> arms;    ///< in the experiment's order
  std::vector<CellRecord> cells;  ///< by position in the plan
  std::map<std::pair<std::string, std::string>, std::size_t> cell_index;  ///< by group and arm
  std::map<std::int64_t, std::vector<RunRecord>> runs;  ///< by cell, in order of execution

  /// Empty of a cell without any.
  const std::vector<RunRecord>& runs_of(const CellRecord& cell) const;
  /// nullptr when there is none.
  const CellRecord* find_cell(const std::string& group, const std::string& arm) const;
  /// The arm that `arm` is a second copy of; empty for others.
  std::string copied_arm(const std::string& arm) const;
};

/// Throws Error(kUsage) naming the experiments there are when options.experiment_id is none of
/// them.
ExperimentData read_experiment(const Store& store, std::int64_t id);

/// The row of `cell` without percentages: a summary of the runs with status ok for each metric, or
/// the reason why there is none.
ComparisonRow make_row(const ExperimentData& data, const CellRecord& cell,
                       const std::vector<std::string>& metrics);

/// Sets percent_of_baseline of each value of `row` that has a median, as has `baseline`.
void set_percentages(ComparisonRow& row, const ComparisonRow& baseline);

/// A warning that every row with a result bears says something about the experiment, not about a
/// row.
void move_common_warnings_to_notes(Comparison& comparison);

}  // namespace numabench
