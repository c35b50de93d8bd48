// --add-runs until=0.5%,max=15: more runs of the cells whose verdict is open, in whole blocks.
//
// When a verdict is open and how many runs it gets is reports/statistics/looks.h; here it becomes
// blocks of a plan.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reports/comparison.h"
#include "reports/statistics/looks.h"
#include "runner/stored_experiment.h"

namespace numabench {

/// "until=0.5%,max=15", either part may be left out. Throws Error(kUsage).
AddRuns parse_add_runs(const std::string& text);

/// --add-runs GOAL.
struct AddRunsOption {
  std::string text;

  void add_to(CLI::App& command);
  /// nullopt when it was not given. Throws Error(kUsage).
  std::optional<AddRuns> goal() const;
};

/// Appends the runs that earlier rounds added to `plan`, so that new ones are numbered behind them.
void append_stored_additions(const Store& store, const StoredExperiment& stored, Plan& plan);

/// Appends the blocks that the open verdicts of `comparison` need to `plan` and returns their
/// indices in plan.runs: of each group the open arms, the baseline and its copy. None where no
/// verdict is open or it has its most runs.
std::vector<std::size_t> add_blocks(const Experiment& experiment, const StoredExperiment& stored,
                                    const Comparison& comparison, const AddRuns& goal, Plan& plan);

/// Rounds of add_blocks() and execute() until none is left; what was printed says how many.
LoopOutcome add_runs(Store& store, const StoredExperiment& stored, const Experiment& experiment,
                     const Host& host, Plan plan, Engine& engine, const AddRuns& goal);

}  // namespace numabench
