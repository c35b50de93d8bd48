// `numabench resume`: exactly the runs that a stored experiment still lacks.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "hosts/error.h"
#include "reports/figures.h"
#include "runner/added_runs.h"
#include "runner/build_stage.h"
#include "runner/command_options.h"
#include "runner/commands.h"
#include "runner/host_lease.h"
#include "runner/host_sheet.h"
#include "runner/plan_selection.h"
#include "runner/planned_experiment.h"
#include "runner/resources.h"
#include "runner/stored_experiment.h"

namespace numabench {
namespace {

struct ResumeOptions {
  std::string reference;
  SelectorOptions selectors;
  AddRunsOption add_runs;
  bool no_figures = false;
  bool force = false;
};

/// The cells that the experiment was begun with: `run` may have selected some of the config's.
CellPredicate stored_cells(const Store& store, const ExperimentRecord& record) {
  std::set<std::string> hashes;
  for (const CellRecord& cell : store.cells(record.id)) hashes.insert(cell.hash);
  return [hashes](const CellRecord& cell) { return hashes.contains(cell.hash); };
}

/// The wanted ones of `runs`, in their order.
std::vector<std::size_t> select_runs(const std::vector<std::size_t>& runs, const Plan& plan,
                                     const StoredExperiment& stored, const CellPredicate& wanted) {
  std::vector<std::size_t> selected;
  std::ranges::copy_if(runs, std::back_inserter(selected),
                       [&](std::size_t run) { return wanted(stored.cells[plan.runs[run].cell]); });
  return selected;
}

int resume(const ResumeOptions& options) {
  const std::optional<AddRuns> goal = options.add_runs.goal();
  const auto reference = ExperimentReference::parse(options.reference);
  // Looked up read-only first: opening for writing would create a misspelled file.
  const ExperimentRecord record =
      reference.find_in(Store::open(reference.path, Store::Mode::kReadOnly));
  Store store = Store::open(reference.path, Store::Mode::kReadWrite);

  const HostLease lease("local");
  const Host& host = lease.host();
  const Experiment experiment =
      load_experiment_text(record.expanded_text, options.reference, host.topology).experiment;
  const std::unique_ptr<Engine> engine = make_engine(experiment.engine);
  const Plan plan =
      select_cells(experiment, make_plan(experiment, host, *engine), stored_cells(store, record));
  const std::vector<HostCheck> sheet = examine_host_for(experiment, host, plan);
  const StoredExperiment stored = find_in_store(store, record, host, sheet, plan);
  const std::vector<std::size_t> pending =
      select_runs(missing_runs(store, stored, plan, options.selectors.failed), plan, stored,
                  options.selectors.predicate(store, record.id));
  check_resources(plan);
  require_fit_host(experiment, sheet, options.force);
  if (!options.no_figures) require_gnuplot();
  build_arms(*engine, experiment, planned_arms(experiment, plan));

  fmt::print(stderr, "{}: {} of {} runs to do\n", options.reference, pending.size(),
             plan.runs.size());
  LoopOutcome outcome = execute(store, stored, experiment, host, plan, *engine, pending);
  if (goal) outcome += add_runs(store, stored, experiment, host, plan, *engine, *goal);
  return report_outcome(store, record, outcome, !options.no_figures);
}

}  // namespace

void add_resume_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ResumeOptions>();
  CLI::App* command = add_subcommand(
      app, "resume",
      "Do the runs that an experiment still lacks; with --failed, its failed ones again",
      "numabench resume results/quick.db");
  add_experiment_option(*command, options->reference);
  options->selectors.add_to(*command);
  command->add_flag("--no-figures", options->no_figures, "Draw no figures");
  options->add_runs.add_to(*command);
  add_force_option(*command, options->force);
  command->callback([options, &chosen] { chosen = [options] { return resume(*options); }; });
}

}  // namespace numabench
