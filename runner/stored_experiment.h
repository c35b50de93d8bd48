// An experiment in the results store: adding a new one, finding what is missing of an old one, and
// executing runs into it. `run` and `resume` are both made of these.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "hosts/doctor/host_check.h"
#include "reports/store.h"
#include "runner/arms/arm_build.h"
#include "runner/config/experiment.h"
#include "runner/engines/engine.h"
#include "runner/plan.h"
#include "runner/run_loop.h"

namespace numabench {

/// An experiment's identity in the store; cells[i] is the stored form of plan.cells[i].
struct StoredExperiment {
  ExperimentRecord record;
  std::vector<CellRecord> cells;
  std::string host_warning;  ///< of every run that is executed now; empty: none
};

/// Always a new experiment: nothing stored is ever replaced. `builds`: of the arms that were built.
StoredExperiment add_to_store(Store& store, const LoadedExperiment& loaded, const Host& host,
                              const std::vector<HostCheck>& sheet, const Plan& plan,
                              const std::vector<ArmBuild>& builds);

/// The same experiment as planned on this host now, with a warning when that is less fit than it
/// was (`sheet`). Throws Error(kPreflight) when it was begun on another host, or when a stored cell
/// is no longer what the plan has under its factors (stale).
StoredExperiment find_in_store(const Store& store, const ExperimentRecord& record, const Host& host,
                               const std::vector<HostCheck>& sheet, const Plan& plan);

/// Indices into plan.runs without a finished run in the store; with `redo_failed`, those whose
/// newest run failed or was void instead.
std::vector<std::size_t> missing_runs(const Store& store, const StoredExperiment& stored,
                                      const Plan& plan, bool redo_failed);

/// Executes plan.runs[i] for i in `pending`, prints a line a run to standard error and commits each
/// run before the next. Throws Error(kInterrupted) with the resume command after Ctrl-C.
LoopOutcome execute(Store& store, const StoredExperiment& stored, const Experiment& experiment,
                    const Host& host, const Plan& plan, Engine& engine,
                    const std::vector<std::size_t>& pending);

/// Tables to standard output and, if asked, figures beside the store. Returns the command's exit
/// code.
int report_outcome(const Store& store, const ExperimentRecord& record, const LoopOutcome& outcome,
                   bool draw);

}  // namespace numabench
