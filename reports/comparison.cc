#include "reports/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "hosts/error.h"
#include "hosts/spelling.h"
#include "reports/comparison_rows.h"
#include "reports/comparison_tables.h"
#include "reports/host_fitness.h"
#include "reports/order_effects.h"
#include "reports/verdicts.h"

namespace numabench {
namespace {

/// What decides which cells of two experiments answer the same question. The hash of a cell does
/// not do: it changes with the arm's definition, and that is what is being compared.
auto factors_of(const CellRecord& cell) {
  return std::tie(cell.arm, cell.workload, cell.workload_parameters, cell.regime, cell.placement,
                  cell.pool_bytes, cell.ratio, cell.clients);
}

std::vector<std::string> checked_metrics(const std::vector<std::string>& asked) {
  if (asked.empty()) return default_metrics();
  for (const std::string& name : asked) {
    if (find_metric(name) != nullptr) continue;
    std::vector<std::string> known;
    for (const Metric& metric : metric_catalogue()) known.push_back(metric.name);
    throw Error(ErrorKind::kUsage, fmt::format("unknown metric '{}'", name), suggest(name, known));
  }
  return asked;
}

std::vector<std::string> judged_metrics(const std::vector<std::string>& asked,
                                        const std::vector<std::string>& shown) {
  if (!asked.empty()) return asked;
  std::vector<std::string> throughputs;
  std::ranges::copy_if(shown, std::back_inserter(throughputs),
                       [](const std::string& name) { return is_throughput(*find_metric(name)); });
  return throughputs;
}

std::string checked_baseline(const ExperimentData& data, const std::string& asked) {
  const std::string& baseline = asked.empty() ? data.experiment.baseline_arm : asked;
  std::vector<std::string> known;
  for (const ArmRecord& arm : data.arms) known.push_back(arm.name);
  if (std::ranges::find(known, baseline) != known.end()) return baseline;
  throw Error(ErrorKind::kUsage,
              fmt::format("experiment '{}' has no arm '{}' to be the baseline",
                          data.experiment.name, baseline),
              suggest(baseline, known));
}

std::vector<CellRecord> wanted_cells(const ExperimentData& data, const ComparisonOptions& options) {
  std::vector<CellRecord> cells;
  for (const CellRecord& cell : data.cells) {
    if (!options.wanted || options.wanted(cell)) cells.push_back(cell);
  }
  if (cells.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("no cell of experiment '{}' is selected", data.experiment.name),
                "widen the selection");
  }
  return cells;
}

/// Ratios ascend; within a ratio the baseline arm comes first, the others in the experiment's
/// order.
int arm_rank(const ExperimentData& data, const std::string& baseline, const std::string& arm) {
  if (arm == baseline) return -1;
  const auto found = std::ranges::find(data.arms, arm, &ArmRecord::name);
  return static_cast<int>(found - data.arms.begin());
}

std::string smoke_note() { return "smoke run: not comparable, not fit to publish"; }

void note_host_fitness(Comparison& comparison) {
  const auto note = [&](const std::string& side, const HostRecord& host) {
    for (const std::string& text : fitness_notes(read_host_fitness(host))) {
      comparison.notes.push_back(side + text);
    }
  };
  if (comparison.before_host) note("before: ", *comparison.before_host);
  note(comparison.before_host ? "after: " : "", comparison.host);
}

/// A failed cell is a row of its table, but a reader of the first lines must hear of it as well.
void note_cells_without_result(Comparison& comparison) {
  std::size_t rows = 0;
  std::size_t without = 0;
  for (const ComparisonTable& table : comparison.tables) {
    rows += table.rows.size();
    without += static_cast<std::size_t>(
        std::count_if(table.rows.begin(), table.rows.end(),
                      [](const ComparisonRow& row) { return !row.problem.empty(); }));
  }
  if (without == 0) return;
  comparison.notes.push_back(
      fmt::format("cells without a run that counts: {} of {}", without, rows));
}

/// The cell of `arm` in each group.
std::map<std::string, CellRecord> cells_by_group(const ExperimentData& data,
                                                 const std::string& arm) {
  std::map<std::string, CellRecord> cells;
  for (const CellRecord& cell : data.cells) {
    if (cell.arm == arm) cells.emplace(cell.group, cell);
  }
  return cells;
}

void require_same_kind(const ExperimentRecord& before, const ExperimentRecord& after) {
  if (before.smoke == after.smoke) return;
  throw Error(
      ErrorKind::kUsage,
      fmt::format("experiment '{}' is a smoke run and '{}' is not: their numbers cannot be "
                  "compared",
                  before.smoke ? before.name : after.name, before.smoke ? after.name : before.name),
      "run the smoke one again without --smoke");
}

/// What differs between the two sides beside the code under test.
void note_different_conditions(Comparison& comparison) {
  const auto note = [&](const char* what, const std::string& before, const std::string& after) {
    if (before == after) return;
    comparison.notes.push_back(fmt::format("{} differs: {} before, {} after", what, before, after));
  };
  const ExperimentRecord& before = *comparison.before;
  const ExperimentRecord& after = comparison.experiment;
  note("the host", comparison.before_host->hostname, comparison.host.hostname);
  note("the engine", before.engine, after.engine);
  note("the software", before.software, after.software);
  note("the seed", fmt::to_string(before.seed), fmt::to_string(after.seed));
}

struct CellPair {
  CellRecord before;
  CellRecord after;
};

std::vector<CellPair> pair_cells(const std::vector<CellRecord>& before,
                                 const std::vector<CellRecord>& after) {
  std::vector<CellPair> pairs;
  for (const CellRecord& cell : after) {
    const auto partner = std::find_if(before.begin(), before.end(), [&](const CellRecord& other) {
      return factors_of(other) == factors_of(cell);
    });
    if (partner != before.end()) pairs.push_back({*partner, cell});
  }
  return pairs;
}

}  // namespace

const ComparisonValue* ComparisonRow::find(const std::string& metric) const {
  const auto found = std::find_if(values.begin(), values.end(), [&](const ComparisonValue& value) {
    return value.metric == metric;
  });
  return found == values.end() ? nullptr : &*found;
}

bool is_throughput(const Metric& metric) {
  return metric.unit == "1/s" && metric.better == Better::kHigher;
}

std::vector<std::string> default_metrics() {
  return {"tps",  "scans_per_s", "scan_bytes_per_s", "hit_pct", "reads", "adv_per_victim",
          "tail", "ticks_p9999", "latency_p99_us",   "laps"};
}

Comparison compare_arms(const Store& store, const ComparisonOptions& options) {
  const ExperimentData data = read_experiment(store, options.experiment_id);
  Comparison comparison;
  comparison.experiment = data.experiment;
  comparison.host = data.host;
  comparison.arms = data.arms;
  comparison.baseline_arm = checked_baseline(data, options.baseline_arm);
  comparison.metrics = checked_metrics(options.metrics);
  comparison.judged_metrics = judged_metrics(options.metrics, comparison.metrics);

  const auto baselines = cells_by_group(data, comparison.baseline_arm);
  TableBuilder tables(data.cells);
  for (const CellRecord& cell : wanted_cells(data, options)) {
    ComparisonRow row = make_row(data, cell, comparison.metrics);
    row.is_baseline = cell.arm == comparison.baseline_arm;
    const auto baseline = baselines.find(cell.group);
    if (!row.is_baseline && baseline != baselines.end()) {
      set_percentages(row, make_row(data, baseline->second, comparison.metrics));
    }
    tables.add(std::move(row), arm_rank(data, comparison.baseline_arm, cell.arm));
  }
  comparison.tables = tables.take();
  judge_arms(comparison, data, options.resolution_percent);

  if (data.experiment.smoke) comparison.notes.push_back(smoke_note());
  std::ranges::move(order_notes(data.runs, store.drift_controls(data.experiment.id)),
                    std::back_inserter(comparison.notes));
  note_host_fitness(comparison);
  note_cells_without_result(comparison);
  move_common_warnings_to_notes(comparison);
  return comparison;
}

Comparison compare_experiments(const Store& before, const ComparisonOptions& before_options,
                               const Store& after, const ComparisonOptions& after_options) {
  const ExperimentData old_data = read_experiment(before, before_options.experiment_id);
  const ExperimentData new_data = read_experiment(after, after_options.experiment_id);
  require_same_kind(old_data.experiment, new_data.experiment);

  Comparison comparison;
  comparison.experiment = new_data.experiment;
  comparison.host = new_data.host;
  comparison.arms = new_data.arms;
  comparison.before_arms = old_data.arms;
  comparison.before = old_data.experiment;
  comparison.before_host = old_data.host;
  comparison.baseline_arm = "before";
  comparison.metrics = checked_metrics(after_options.metrics);
  comparison.judged_metrics = judged_metrics(after_options.metrics, comparison.metrics);

  const std::vector<CellRecord> old_cells = wanted_cells(old_data, before_options);
  const std::vector<CellRecord> new_cells = wanted_cells(new_data, after_options);
  const std::vector<CellPair> pairs = pair_cells(old_cells, new_cells);
  if (pairs.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("experiments '{}' and '{}' have no cell in common",
                            old_data.experiment.name, new_data.experiment.name),
                "compare experiments with the same arms, workloads, pools, ratios, clients, "
                "placements and regimes");
  }
  TableBuilder tables(new_data.cells);
  for (const CellPair& pair : pairs) {
    ComparisonRow baseline = make_row(old_data, pair.before, comparison.metrics);
    baseline.side = "before";
    baseline.is_baseline = true;
    ComparisonRow row = make_row(new_data, pair.after, comparison.metrics);
    row.side = "after";
    set_percentages(row, baseline);
    const int rank = arm_rank(new_data, "", pair.after.arm);
    tables.add_below(pair.after, std::move(baseline), rank);
    tables.add(std::move(row), rank);
  }
  comparison.tables = tables.take();
  judge_experiments(comparison, old_data, new_data, after_options.resolution_percent);

  if (new_data.experiment.smoke) comparison.notes.push_back(smoke_note());
  note_host_fitness(comparison);
  note_different_conditions(comparison);
  if (const auto lonely = old_cells.size() + new_cells.size() - 2 * pairs.size(); lonely > 0) {
    comparison.notes.push_back(
        fmt::format("cells left out, without a counterpart in the other experiment: {}", lonely));
  }
  note_cells_without_result(comparison);
  move_common_warnings_to_notes(comparison);
  return comparison;
}

}  // namespace numabench
