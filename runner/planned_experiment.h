// What every command on a config begins with: a host, the experiment resolved against it, the
// engine and the plan.
#pragma once

#include <memory>

#include "runner/config/load.h"
#include "runner/engines/engine.h"
#include "runner/host_lease.h"
#include "runner/plan.h"
#include "runner/selector.h"

namespace numabench {

struct OpenedExperiment {
  std::unique_ptr<HostLease> lease;
  LoadedExperiment loaded;
  std::unique_ptr<Engine> engine;

  const Host& host() const { return lease->host(); }
  const Experiment& experiment() const { return loaded.experiment; }
};

struct PlannedExperiment : OpenedExperiment {
  Plan plan;  ///< of the wanted cells
};

/// Throws Error(kUsage) for a config or an engine that is wrong.
OpenedExperiment open_experiment(const std::string& config_path, const ConfigOverrides& overrides);

/// The same of a config that is no file; `name` stands for it in errors.
OpenedExperiment open_experiment_text(const std::string& text, const std::string& name,
                                      const ConfigOverrides& overrides);

/// The same with its plan; says on standard error which cells this host leaves out. Throws
/// Error(kUsage) for a selection that is wrong, too, and Error(kPreflight) for what this host does
/// not have.
PlannedExperiment plan_experiment(OpenedExperiment opened, const CellPredicate& wanted);
PlannedExperiment plan_experiment(const std::string& config_path, const ConfigOverrides& overrides,
                                  const CellPredicate& wanted);

/// The arms that have cells in the plan, in the experiment's order.
std::vector<Arm> planned_arms(const Experiment& experiment, const Plan& plan);

}  // namespace numabench
