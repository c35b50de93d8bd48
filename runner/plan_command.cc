// `numabench plan`: the cells of an experiment, their order and what they will take.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include "hosts/units.h"
#include "reports/digest.h"
#include "runner/command_options.h"
#include "runner/commands.h"
#include "runner/config/load.h"
#include "runner/engines/client_placement.h"
#include "runner/plan_selection.h"
#include "runner/planned_experiment.h"

namespace numabench {
namespace {

struct PlanOptions {
  ConfigOptions config;
  SelectorOptions selectors;
  std::string database;
};

/// The places of each cell's runs in the order of execution: "1, 5, 9".
std::vector<std::string> run_orders(const Plan& plan) {
  std::vector<std::string> orders(plan.cells.size());
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    std::string& order = orders[plan.runs[i].cell];
    order += fmt::format("{}{}", order.empty() ? "" : ",", i + 1);
  }
  return orders;
}

std::size_t widest(const Experiment& experiment, std::string FactorSet::*member,
                   std::size_t at_least) {
  std::size_t width = at_least;
  for (const FactorSet& cell : experiment.cells) width = std::max(width, (cell.*member).size());
  return width;
}

std::string bytes(std::uint64_t value) {
  return value == 0 ? "–" : format_bytes(static_cast<double>(value));
}

void print_cells(const Experiment& experiment, const Plan& plan) {
  const std::size_t arm_width = widest(experiment, &FactorSet::arm, 3);
  const std::size_t workload_width = widest(experiment, &FactorSet::workload, 8);
  const std::size_t placement_width = widest(experiment, &FactorSet::placement, 9);
  fmt::print(
      "{:<8}  {:<{}}  {:<{}}  {:<10}  {:>9}  {:>5}  {:>7}  {:<{}}  {:>9}  {:>8}  {:>8}  {}\n",
      "cell", "arm", arm_width, "workload", workload_width, "regime", "pool", "ratio", "clients",
      "placement", placement_width, "memory", "disk", "time/run", "order");
  const std::vector<std::string> orders = run_orders(plan);
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const PlannedCell& cell = plan.cells[i];
    fmt::print(
        "{:<8}  {:<{}}  {:<{}}  {:<10}  {:>9}  {:>5}  {:>7}  {:<{}}  {:>9}  {:>8}  {:>8}  {}\n",
        cell.hash.substr(0, 8), cell.factors.arm, arm_width, cell.factors.workload, workload_width,
        to_string(cell.factors.regime), bytes(cell.factors.pool_bytes),
        format_exact(cell.factors.ratio), cell.factors.clients, cell.factors.placement,
        placement_width, bytes(cell.estimate.memory_bytes), bytes(cell.estimate.disk_bytes),
        format_duration(estimated_run_seconds(experiment, cell)), orders[i]);
  }
}

void print_totals(const Experiment& experiment, const Plan& plan) {
  const bool open_ended = experiment.warmup.unit != Span::Unit::kSeconds ||
                          experiment.duration.unit != Span::Unit::kSeconds;
  fmt::print(
      "\n{} cells, {} runs, {} {} ({} run{} a cell, warm-up {}, window {}), seed {}, order {}{}\n",
      plan.cells.size(), plan.runs.size(), open_ended ? "at most" : "about",
      format_duration(plan.estimated_seconds), experiment.runs, experiment.runs == 1 ? "" : "s",
      experiment.warmup.text(), experiment.duration.text(), experiment.seed,
      to_string(experiment.order), experiment.pairs_abba ? " in pairs ABBA" : "");
  fmt::print("peak memory {}, peak disk {}\n", bytes(plan.peak_memory_bytes),
             bytes(plan.peak_disk_bytes));
}

/// Each with what it does beyond what it says: "node 1 has no memory …".
void print_placements(const PlannedExperiment& planned) {
  for (const PlacementConfig& placement : planned.experiment().placements) {
    if (placement.roles.empty() && placement.spreads.empty()) continue;
    fmt::print("placement {}\n", describe_placement(placement));
    for (const std::string& note : placement_notes(placement, planned.host().topology)) {
      fmt::print("{}\n", note);
    }
  }
}

/// Says what a results file already holds of this experiment, and whether that is of the same
/// inputs.
void print_stored(const std::string& database, const Experiment& experiment) {
  if (!std::filesystem::exists(database)) {
    fmt::print("results will be in {}\n", database);
    return;
  }
  const Store store = Store::open(database, Store::Mode::kReadOnly);
  const std::string hash = sha256_hex(to_canonical_yaml(experiment));
  for (const ExperimentRecord& record : store.experiments()) {
    fmt::print("{}#{} of {}: {}\n", database, record.id, record.started_at,
               record.config_hash == hash
                   ? "this very experiment; `run` adds another, `resume` completes it"
                   : "stale: made from other inputs than this plan");
  }
}

int plan(const PlanOptions& options) {
  const PlannedExperiment planned =
      plan_experiment(options.config.path, options.config.overrides, options.selectors.predicate());
  const Experiment& experiment = planned.experiment();
  print_cells(experiment, planned.plan);
  print_totals(experiment, planned.plan);
  print_placements(planned);
  print_stored(database_path(options.database, experiment), experiment);
  return 0;
}

}  // namespace

void add_plan_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = add_subcommand(
      app, "plan", "List the cells of an experiment, their order, and the time, memory and disk",
      "numabench plan configs/quick.yaml --where 'arm=stock,ratio>=2'");
  options->config.add_to(*command);
  options->selectors.add_to(*command);
  command->add_option("--db", options->database,
                      "The results file to look into (default: results/<experiment>.db)");
  command->callback([options, &chosen] { chosen = [options] { return plan(*options); }; });
}

}  // namespace numabench
