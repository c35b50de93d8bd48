#include "runner/planned_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include "runner/plan_selection.h"

namespace numabench {

namespace {

OpenedExperiment open_with(const std::function<LoadedExperiment(const Topology& topology)>& load) {
  OpenedExperiment opened;
  opened.lease = std::make_unique<HostLease>("local");
  opened.loaded = load(opened.host().topology);
  opened.engine =
      make_engine(opened.experiment().engine, opened.loaded.origins.at("engine").text());
  return opened;
}

}  // namespace

OpenedExperiment open_experiment(const std::string& config_path, const ConfigOverrides& overrides) {
  return open_with(
      [&](const Topology& topology) { return load_experiment(config_path, topology, overrides); });
}

OpenedExperiment open_experiment_text(const std::string& text, const std::string& name,
                                      const ConfigOverrides& overrides) {
  return open_with([&](const Topology& topology) {
    return load_experiment_text(text, name, topology, overrides);
  });
}

PlannedExperiment plan_experiment(OpenedExperiment opened, const CellPredicate& wanted) {
  PlannedExperiment planned{std::move(opened), {}};
  const Plan all = make_plan(planned.experiment(), planned.host(), *planned.engine);
  // Before the selection, which may find nothing for this reason.
  for (const std::string& line : describe_left_out(all)) {
    fmt::print(stderr, "numabench: warning: {}\n", line);
  }
  planned.plan = select_cells(planned.experiment(), all, wanted);
  return planned;
}

PlannedExperiment plan_experiment(const std::string& config_path, const ConfigOverrides& overrides,
                                  const CellPredicate& wanted) {
  return plan_experiment(open_experiment(config_path, overrides), wanted);
}

std::vector<Arm> planned_arms(const Experiment& experiment, const Plan& plan) {
  std::vector<Arm> arms;
  std::ranges::copy_if(experiment.arms, std::back_inserter(arms), [&](const Arm& arm) {
    return std::ranges::any_of(
        plan.cells, [&](const PlannedCell& cell) { return cell.factors.arm == arm.name; });
  });
  return arms;
}

}  // namespace numabench
