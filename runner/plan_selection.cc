#include "runner/plan_selection.h"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include "hosts/error.h"

namespace numabench {

Plan select_cells(const Experiment& experiment, const Plan& plan, const CellPredicate& wanted) {
  constexpr std::size_t kLeftOut = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> new_index(plan.cells.size(), kLeftOut);
  Plan selected;
  selected.left_out = plan.left_out;
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    if (!wanted(to_record(experiment, plan, i))) continue;
    new_index[i] = selected.cells.size();
    selected.cells.push_back(plan.cells[i]);
  }
  if (selected.cells.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("none of the {} cells is selected", plan.cells.size()),
                "numabench plan CONFIG lists them");
  }
  for (PlannedRun run : plan.runs) {
    if (new_index[run.cell] == kLeftOut) continue;
    run.cell = new_index[run.cell];
    selected.runs.push_back(run);
  }
  add_drift_control(experiment, selected);
  add_up(experiment, selected);
  return selected;
}

std::string database_path(const std::string& named, const Experiment& experiment) {
  return named.empty() ? fmt::format("results/{}.db", experiment.name) : named;
}

}  // namespace numabench
