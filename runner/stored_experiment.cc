#include "runner/stored_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "hosts/error.h"
#include "hosts/units.h"
#include "reports/comparison.h"
#include "reports/digest.h"
#include "reports/figures.h"
#include "reports/run_figure.h"
#include "runner/clock.h"
#include "runner/command_options.h"
#include "runner/commands.h"
#include "runner/config/load.h"
#include "runner/host_sheet.h"
#include "runner/interrupt.h"
#include "runner/progress.h"

namespace numabench {
namespace {

/// "numa-only hotscan ratio=2 run 3": the arm, the workload and the factors that vary.
class RunLabels {
 public:
  explicit RunLabels(const std::vector<CellRecord>& cells) {
    for (const CellRecord& cell : cells) {
      ratios_.insert(cell.ratio);
      pools_.insert(cell.pool_bytes);
      clients_.insert(cell.clients);
      placements_.insert(cell.placement);
    }
  }

  std::string operator()(const CellRecord& cell, int repetition) const {
    std::string label = cell.arm + " " + cell.workload;
    if (pools_.size() > 1) {
      label += " pool=" + format_bytes(static_cast<double>(cell.pool_bytes));
    }
    if (ratios_.size() > 1) label += " ratio=" + format_exact(cell.ratio);
    if (clients_.size() > 1) label += fmt::format(" clients={}", cell.clients);
    if (placements_.size() > 1) label += " " + cell.placement;
    return repetition == kDriftControl ? label + " once more, to show drift"
                                       : fmt::format("{} run {}", label, repetition);
  }

 private:
  std::set<double> ratios_;
  std::set<std::uint64_t> pools_;
  std::set<int> clients_;
  std::set<std::string> placements_;
};

/// Commits each run, then tells the person.
class StoringObserver : public RunObserver {
 public:
  StoringObserver(Store& store, const StoredExperiment& stored, Progress& progress)
      : store_(store), stored_(stored), labels_(stored.cells), progress_(progress) {}

  void begin(const PlannedRun& run) override {
    progress_.begin(labels_(stored_.cells[run.cell], run.repetition));
  }
  void stage(const std::string& text) override { progress_.stage(text); }
  void finish(const PlannedRun& run, RunRecord record) override {
    record.cell_id = stored_.cells[run.cell].id;
    if (!stored_.host_warning.empty()) record.events.push_back({"warning", stored_.host_warning});
    store_.add_run(record);
    progress_.finish(record);
  }

 private:
  Store& store_;
  const StoredExperiment& stored_;
  RunLabels labels_;
  Progress& progress_;
};

double estimate(const Experiment& experiment, const Plan& plan,
                const std::vector<std::size_t>& pending) {
  double seconds = 0;
  for (const std::size_t index : pending) {
    seconds += estimated_run_seconds(experiment, plan.cells[plan.runs[index].cell]);
  }
  return seconds;
}

std::string reference(const Store& store, const ExperimentRecord& record) {
  const bool is_latest = store.experiments().back().id == record.id;
  return is_latest ? store.path() : fmt::format("{}#{}", store.path(), record.id);
}

std::string figure_directory(const Store& store, const ExperimentRecord& record) {
  std::filesystem::path path = store.path();
  path.replace_extension();
  return fmt::format("{}-figures/{}", path.string(), record.id);
}

/// In its warm-up or its window, and with seconds enough to be looked at.
bool is_unsettled(const RunRecord& run) {
  const MetricValue* drift = find_value(run.values, "tps_drift_p");
  if (drift == nullptr || !drift->value) return false;
  return std::ranges::any_of(
      run.events, [](const EventRecord& event) { return event.text.starts_with("unsettled"); });
}

/// The pictures of the seconds of runs that never settled: more than a few show nothing new.
std::vector<std::string> draw_unsettled(const Store& store, const ExperimentRecord& record,
                                        const std::string& directory) {
  constexpr std::size_t kMost = 6;  // images: an SVG and a PNG each
  std::vector<std::string> images;
  for (const RunRecord& run : store.runs(record.id)) {
    if (!is_unsettled(run) || images.size() >= kMost) continue;
    const std::optional<FoundRun> found = find_run(store, run.id);
    std::ranges::move(draw_run(store, *found, directory), std::back_inserter(images));
  }
  return images;
}

}  // namespace

StoredExperiment add_to_store(Store& store, const LoadedExperiment& loaded, const Host& host,
                              const std::vector<HostCheck>& sheet, const Plan& plan,
                              const std::vector<ArmBuild>& builds) {
  const Experiment& experiment = loaded.experiment;
  StoredExperiment stored;
  ExperimentRecord& record = stored.record;
  record.name = experiment.name;
  record.engine = experiment.engine;
  record.baseline_arm = experiment.baseline;
  record.source_text = loaded.source_text;
  record.expanded_text = to_canonical_yaml(experiment);
  record.config_hash = sha256_hex(record.expanded_text);
  record.seed = experiment.seed;
  record.runs_per_cell = experiment.runs;
  record.smoke = experiment.smoke;
  record.scale = experiment.scale;
  record.notes = experiment.notes;
  record.started_at = system_clock().wall_time();
  record.software = version_text();
  record.host_id = store.add_host(to_record(host, sheet));

  std::vector<ArmRecord> arms;
  for (const Arm& arm : experiment.arms) {
    arms.push_back({.name = arm.name,
                    .description = arm.description,
                    .definition = describe_arm(arm),
                    .build_json = {},
                    .series = arm.series,
                    .series_position = arm.patch_limit,
                    .copy_of = arm.copy_of});
    const auto build = std::ranges::find(builds, arm.name, &ArmBuild::arm);
    if (build != builds.end()) arms.back().build_json = to_json(*build);
  }
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    stored.cells.push_back(to_record(experiment, plan, i));
  }
  record.id = store.add_experiment(record, arms, stored.cells);
  return stored;
}

StoredExperiment find_in_store(const Store& store, const ExperimentRecord& record, const Host& host,
                               const std::vector<HostCheck>& sheet, const Plan& plan) {
  const std::optional<HostRecord> begun_on = store.host(record.host_id);
  if (begun_on && begun_on->hostname != host.snapshot.hostname) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("experiment #{} was begun on host '{}', this is '{}'", record.id,
                            begun_on->hostname, host.snapshot.hostname),
                "runs of two hosts do not belong in one median: start a new experiment with run");
  }
  StoredExperiment stored{record, store.cells(record.id), ""};
  if (begun_on) stored.host_warning = new_red_lines(*begun_on, sheet);
  for (std::size_t i = 0; i < stored.cells.size(); ++i) {
    if (i < plan.cells.size() && stored.cells[i].hash == plan.cells[i].hash) continue;
    throw Error(ErrorKind::kPreflight,
                fmt::format("cell {} ({}) is stale: the plan made now differs from the stored one",
                            stored.cells[i].hash.substr(0, 8), cell_label(stored.cells[i])),
                "start a new experiment with run");
  }
  return stored;
}

std::vector<std::size_t> missing_runs(const Store& store, const StoredExperiment& stored,
                                      const Plan& plan, bool redo_failed) {
  std::map<std::pair<std::int64_t, int>, RunStatus> newest;
  for (const auto& runs : {store.runs(stored.record.id), store.drift_controls(stored.record.id)}) {
    for (const RunRecord& run : runs) newest[{run.cell_id, run.repetition}] = run.status;
  }
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const PlannedRun& run = plan.runs[i];
    const auto found = newest.find({stored.cells[run.cell].id, run.repetition});
    const bool wanted = redo_failed ? found != newest.end() && found->second != RunStatus::kOk
                                    : found == newest.end();
    if (wanted) missing.push_back(i);
  }
  return missing;
}

LoopOutcome execute(Store& store, const StoredExperiment& stored, const Experiment& experiment,
                    const Host& host, const Plan& plan, Engine& engine,
                    const std::vector<std::size_t>& pending) {
  Progress progress(stderr, TerminalStyle::of(stderr), pending.size(),
                    estimate(experiment, plan, pending));
  StoringObserver observer(store, stored, progress);
  const InterruptGuard guard;
  RunLoop loop(experiment, host, plan, engine, system_clock(), observer,
               &InterruptGuard::interrupted, &make_monitor);
  const LoopOutcome outcome = loop.execute(pending);
  if (outcome.interrupted) {
    throw Error(ErrorKind::kInterrupted,
                fmt::format("interrupted after {} of {} runs, which are kept",
                            outcome.ok + outcome.failed, pending.size()),
                "resume with: numabench resume " + reference(store, stored.record));
  }
  return outcome;
}

int report_outcome(const Store& store, const ExperimentRecord& record, const LoopOutcome& outcome,
                   bool draw) {
  ComparisonOptions options;
  options.experiment_id = record.id;
  const Comparison comparison = compare_arms(store, options);
  print_comparison(comparison, "terminal");
  if (draw) {
    const std::string directory = figure_directory(store, record);
    const auto figures = draw_figures(comparison, comparison.metrics, directory);
    const auto unsettled = draw_unsettled(store, record, directory);
    fmt::print("\n{} figures in {}/\n", figures.size() + unsettled.size(), directory);
  }
  fmt::print("results: {}\n", reference(store, record));
  return outcome.failed == 0 ? 0 : exit_code(ErrorKind::kRun);
}

}  // namespace numabench
