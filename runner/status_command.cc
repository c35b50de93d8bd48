// `numabench status`: how far the experiments of a results file are, and what went wrong.
#include <fmt/format.h>

#include <cstdio>
#include <map>

#include "runner/command_options.h"
#include "runner/commands.h"

namespace numabench {
namespace {

struct StatusOptions {
  std::string reference;
  SelectorOptions selectors;
};

struct Tally {
  int ok = 0;
  int failed = 0;
  int void_runs = 0;
};

void count(Tally& tally, RunStatus status) {
  if (status == RunStatus::kOk) ++tally.ok;
  if (status == RunStatus::kFailed) ++tally.failed;
  if (status == RunStatus::kVoid) ++tally.void_runs;
}

void print_problems(const std::vector<RunRecord>& runs,
                    const std::map<std::int64_t, CellRecord>& cells) {
  for (const RunRecord& run : runs) {
    const auto cell = cells.find(run.cell_id);
    if (run.status == RunStatus::kOk || cell == cells.end()) continue;
    fmt::print("  {} {} run {} (id {}): {}: {}\n", cell->second.hash.substr(0, 8),
               cell_label(cell->second), run.repetition, run.id, to_string(run.status), run.reason);
  }
}

void print_experiment(const Store& store, const ExperimentRecord& experiment,
                      const SelectorOptions& selectors) {
  std::map<std::int64_t, CellRecord> cells;
  const CellPredicate wanted = selectors.predicate(store, experiment.id);
  for (const CellRecord& cell : store.cells(experiment.id)) {
    if (wanted(cell)) cells.emplace(cell.id, cell);
  }
  // A run that was done again counts once, by its newest result.
  std::map<std::pair<std::int64_t, int>, RunStatus> newest;
  std::size_t added = 0;  // by --add-runs
  const std::vector<RunRecord> runs = store.runs(experiment.id);
  for (const RunRecord& run : runs) {
    if (cells.contains(run.cell_id)) newest[{run.cell_id, run.repetition}] = run.status;
  }
  Tally tally;
  for (const auto& [key, status] : newest) {
    count(tally, status);
    if (key.second > experiment.runs_per_cell) ++added;
  }

  const auto planned = cells.size() * static_cast<std::size_t>(experiment.runs_per_cell) + added;
  fmt::print("{}#{} {}{}, begun {}: {} of {} runs ok, {} failed, {} void, {} missing\n",
             store.path(), experiment.id, experiment.name, experiment.smoke ? " (smoke)" : "",
             experiment.started_at, tally.ok, planned, tally.failed, tally.void_runs,
             planned - newest.size());
  print_problems(runs, cells);
  if (newest.size() < planned) {
    fmt::print("  numabench resume {}#{}\n", store.path(), experiment.id);
  }
}

int status(const StatusOptions& options) {
  const auto reference = ExperimentReference::parse(options.reference);
  const Store store = Store::open(reference.path, Store::Mode::kReadOnly);
  if (reference.id) {
    print_experiment(store, reference.find_in(store), options.selectors);
    return 0;
  }
  for (const ExperimentRecord& experiment : store.experiments()) {
    print_experiment(store, experiment, options.selectors);
  }
  return 0;
}

}  // namespace

void add_status_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* command = add_subcommand(
      app, "status", "Show how many runs of each experiment are done, failed, void or missing",
      "numabench status results/quick.db");
  command->add_option("experiment", options->reference, "FILE.db (all of it) or FILE.db#ID")
      ->required();
  options->selectors.add_to(*command);
  command->callback([options, &chosen] { chosen = [options] { return status(*options); }; });
}

}  // namespace numabench
