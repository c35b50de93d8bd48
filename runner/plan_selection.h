// Parts of a plan, and where an experiment's results go.
#pragma once

#include <string>

#include "runner/config/experiment.h"
#include "runner/plan.h"
#include "runner/selector.h"

namespace numabench {

/// The plan with only the wanted cells and their runs, in the same order. Throws Error(kUsage) when
/// no cell is wanted.
Plan select_cells(const Experiment& experiment, const Plan& plan, const CellPredicate& wanted);

/// The results file that --db named, or results/<experiment>.db.
std::string database_path(const std::string& named, const Experiment& experiment);

}  // namespace numabench
