// `numabench noise`: how far two copies of the same arm are apart on this host, and so how many
// runs it takes to show a difference.
#include <fmt/format.h>

#include "hosts/error.h"
#include "hosts/units.h"
#include "reports/noise_report.h"
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

constexpr int kUsualRuns = 10;
constexpr int kSimulatedExperiments = 1000;

/// What is measured without a config: half a minute of each copy.
constexpr const char* kBuiltIn = R"(name: host
engine: embedded
arms: [{name: stock}]
workloads: [zipfian]
pools: 64MiB
ratios: [2]
clients: 2 * cpus
placements: spread
warmup: 1s
duration: 2s
)";

struct NoiseOptions {
  ConfigOptions config;
  SelectorOptions selectors;
  std::string engine;
  std::string database;
  bool simulate = false;
  std::string noise = "1%";
  bool force = false;

  ConfigOverrides overrides() const {
    ConfigOverrides all = config.overrides;
    all.sets.emplace_back("aa=true");
    if (!engine.empty()) all.sets.push_back("engine=" + engine);
    if (!all.runs) all.runs = kUsualRuns;
    return all;
  }
};

/// The baseline and its copy alone, under a name of their own.
PlannedExperiment plan_noise(const NoiseOptions& options) {
  const ConfigOverrides overrides = options.overrides();
  PlannedExperiment planned = plan_experiment(
      options.config.path.empty()
          ? open_experiment_text(kBuiltIn, "the built-in experiment of noise", overrides)
          : open_experiment(options.config.path, overrides),
      options.selectors.predicate());
  Experiment& experiment = planned.loaded.experiment;
  experiment.name += "-noise";
  planned.plan = select_cells(experiment, planned.plan, [&](const CellRecord& cell) {
    return cell.arm == experiment.baseline ||
           experiment.arm(cell.arm).copy_of == experiment.baseline;
  });
  return planned;
}

int measure(const NoiseOptions& options) {
  const PlannedExperiment planned = plan_noise(options);
  const Experiment& experiment = planned.experiment();
  check_resources(planned.plan);
  const std::vector<HostCheck> sheet = examine_host_for(experiment, planned.host(), planned.plan);
  require_fit_host(experiment, sheet, options.force);
  const std::vector<ArmBuild> builds =
      build_arms(*planned.engine, experiment, planned_arms(experiment, planned.plan));

  Store store = Store::open(database_path(options.database, experiment), Store::Mode::kReadWrite);
  const StoredExperiment stored =
      add_to_store(store, planned.loaded, planned.host(), sheet, planned.plan, builds);
  const std::vector<std::size_t> pending = missing_runs(store, stored, planned.plan, false);
  const LoopOutcome outcome =
      execute(store, stored, experiment, planned.host(), planned.plan, *planned.engine, pending);
  fmt::print("{}results: {}\n", format_noise(store, stored.record.id), store.path());
  return outcome.failed == 0 ? 0 : exit_code(ErrorKind::kRun);
}

int simulate_rule(const NoiseOptions& options) {
  std::string text = options.noise;
  if (text.ends_with('%')) text.pop_back();
  const std::optional<double> percent = parse_number(text);
  if (!percent || *percent <= 0) {
    throw Error(ErrorKind::kUsage, fmt::format("--noise: '{}' is no percentage", options.noise),
                "write it as 1%");
  }
  fmt::print("{}", format_simulation(*percent, kSimulatedExperiments));
  return 0;
}

int noise(const NoiseOptions& options) {
  return options.simulate ? simulate_rule(options) : measure(options);
}

}  // namespace

void add_noise_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<NoiseOptions>();
  CLI::App* command =
      add_subcommand(app, "noise",
                     "Run the baseline arm beside a copy of itself and say how many runs show what "
                     "difference here",
                     "numabench noise configs/quick.yaml --where workload=zipfian --runs 10\n"
                     "         numabench noise --engine embedded\n"
                     "         numabench noise --simulate --noise 2%");
  options->config.add_to(*command);
  command->get_option("config")->required(false);
  options->selectors.add_to(*command);
  command->add_option("--engine", options->engine,
                      "The engine; without a config, of a small built-in experiment (embedded)");
  command->add_option("--db", options->database,
                      "The results file (default: results/<experiment>-noise.db)");
  command->add_flag("--simulate", options->simulate,
                    "Measure nothing: print how often verdicts err and what they find on simulated "
                    "experiments");
  command->add_option("--noise", options->noise,
                      "For --simulate: the standard deviation of the ratio of two runs");
  add_force_option(*command, options->force);
  command->callback([options, &chosen] { chosen = [options] { return noise(*options); }; });
}

}  // namespace numabench
