// `numabench run`: the pipeline, from a config to tables and figures.
#include <fmt/format.h>

#include "reports/figures.h"
#include "runner/added_runs.h"
#include "runner/build_stage.h"
#include "runner/command_options.h"
#include "runner/commands.h"
#include "runner/host_sheet.h"
#include "runner/plan_selection.h"
#include "runner/planned_experiment.h"
#include "runner/resources.h"
#include "runner/stored_experiment.h"

namespace numabench {
namespace {

struct RunOptions {
  ConfigOptions config;
  SelectorOptions selectors;
  AddRunsOption add_runs;
  std::string database;
  bool no_figures = false;
  bool measure_overhead = false;
  bool force = false;

  ConfigOverrides overrides() const {
    ConfigOverrides all = config.overrides;
    if (measure_overhead) all.sets.emplace_back("counters=counted-build");
    return all;
  }
};

/// What the counters in the sweep cost: each run measured both binaries, one after the other.
void print_overhead(const Store& store, const ExperimentRecord& record) {
  ComparisonOptions options;
  options.experiment_id = record.id;
  options.metrics = {"tps", "tps_counted", "counting_overhead_pct"};
  fmt::print("\nWhat counting costs, measured in pairs:\n");
  print_comparison(compare_arms(store, options), "terminal");
}

int run(const RunOptions& options) {
  const std::optional<AddRuns> goal = options.add_runs.goal();
  const PlannedExperiment planned =
      plan_experiment(options.config.path, options.overrides(), options.selectors.predicate());
  const Experiment& experiment = planned.experiment();
  check_resources(planned.plan);
  const std::vector<HostCheck> sheet = examine_host_for(experiment, planned.host(), planned.plan);
  require_fit_host(experiment, sheet, options.force);
  if (!options.no_figures) require_gnuplot();
  const std::vector<ArmBuild> builds =
      build_arms(*planned.engine, experiment, planned_arms(experiment, planned.plan));

  Store store = Store::open(database_path(options.database, experiment), Store::Mode::kReadWrite);
  const StoredExperiment stored =
      add_to_store(store, planned.loaded, planned.host(), sheet, planned.plan, builds);
  const std::vector<std::size_t> pending = missing_runs(store, stored, planned.plan, false);
  LoopOutcome outcome =
      execute(store, stored, experiment, planned.host(), planned.plan, *planned.engine, pending);
  if (goal) {
    outcome +=
        add_runs(store, stored, experiment, planned.host(), planned.plan, *planned.engine, *goal);
  }
  const int exit_code = report_outcome(store, stored.record, outcome, !options.no_figures);
  if (options.measure_overhead) print_overhead(store, stored.record);
  return exit_code;
}

}  // namespace

void add_run_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = add_subcommand(
      app, "run", "Run an experiment on this host, keep every run, print tables, draw figures",
      "numabench run configs/quick.yaml --set clients=[8] --where 'workload=zipfian'");
  options->config.add_to(*command);
  options->selectors.add_to(*command);
  command->add_option("--db", options->database,
                      "The results file (default: results/<experiment>.db); a new experiment is "
                      "added to it, nothing in it is replaced");
  command->add_flag("--no-figures", options->no_figures, "Draw no figures");
  command->add_flag("--measure-overhead", options->measure_overhead,
                    "Measure each run twice, without and with the counters in the server's sweep "
                    "(--set counters=counted-build), and print the difference");
  options->add_runs.add_to(*command);
  add_force_option(*command, options->force);
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace numabench
