#include "runner/added_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "hosts/error.h"
#include "hosts/units.h"

namespace numabench {
namespace {

[[noreturn]] void not_a_goal(const std::string& text) {
  throw Error(ErrorKind::kUsage, fmt::format("--add-runs: '{}' is no goal", text),
              "write until=0.5%,max=15 or a part of it");
}

double parse_percent(std::string text) {
  if (text.ends_with('%')) text.pop_back();
  const std::optional<double> percent = parse_number(text);
  if (!percent || *percent <= 0) not_a_goal(text);
  return *percent;
}

int parse_runs(const std::string& text) {
  const std::optional<double> runs = parse_number(text);
  if (!runs || *runs < 1 || *runs != std::floor(*runs)) not_a_goal(text);
  return static_cast<int>(*runs);
}

/// The open arms of each group, and the noise of the noisiest of them.
struct OpenGroup {
  std::set<std::string> arms;
  double noise = 0;
};

std::map<std::string, OpenGroup> open_groups(const Comparison& comparison) {
  std::map<std::string, OpenGroup> groups;
  for (const ComparisonTable& table : comparison.tables) {
    for (const ComparisonRow& row : table.rows) {
      for (const std::string& metric : comparison.judged_metrics) {
        const ComparisonValue* value = row.find(metric);
        if (row.is_copy || value == nullptr || !value->judgement) continue;
        const Judgement& judgement = *value->judgement;
        if (!is_open(judgement.verdict)) continue;
        OpenGroup& group = groups[row.cell.group];
        group.arms.insert(row.cell.arm);
        group.noise = std::max(group.noise, judgement.difference.noise);
      }
    }
  }
  return groups;
}

int most_repetitions(const Plan& plan, const std::string& group) {
  int most = 0;
  for (const PlannedRun& run : plan.runs) {
    if (plan.cells[run.cell].group == group) most = std::max(most, run.repetition);
  }
  return most;
}

/// The cells of a block: of the open arms and of what they are held against.
std::vector<std::size_t> cells_to_repeat(const Experiment& experiment, const Plan& plan,
                                         const std::string& group,
                                         const std::set<std::string>& arms) {
  std::vector<std::size_t> cells;
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const std::string& arm = plan.cells[i].factors.arm;
    const bool is_reference =
        arm == experiment.baseline || experiment.arm(arm).copy_of == experiment.baseline;
    if (plan.cells[i].group == group && (is_reference || arms.contains(arm))) cells.push_back(i);
  }
  return cells;
}

int latest_addition(const Plan& plan) {
  return plan.runs.empty() ? 0 : std::ranges::max(plan.runs, {}, &PlannedRun::addition).addition;
}

int next_block(const Plan& plan) {
  return plan.runs.empty() ? 0 : std::ranges::max(plan.runs, {}, &PlannedRun::block).block + 1;
}

/// One more run of each of `cells`, rotated as in the plan's own blocks.
void append_block(const Experiment& experiment, const std::vector<std::size_t>& cells,
                  int repetition, int addition, Plan& plan) {
  const std::string& group = plan.cells[cells.front()].group;
  const std::uint64_t seed = block_seed(experiment.seed, group, repetition);
  const int block = next_block(plan);
  for (std::size_t position = 0; position < cells.size(); ++position) {
    const std::size_t turned = (position + static_cast<std::size_t>(repetition)) % cells.size();
    plan.runs.push_back(
        {cells[turned], repetition, block, static_cast<int>(position), seed, addition});
  }
}

void tell(const Plan& plan, const std::map<std::string, OpenGroup>& groups, std::size_t runs_before,
          double until_percent) {
  std::size_t arms = 0;
  for (const auto& [hash, group] : groups) arms += group.arms.size();
  fmt::print(stderr, "{} verdict{} open at ±{} %: {} runs more\n", arms, arms == 1 ? "" : "s",
             format_exact(until_percent), plan.runs.size() - runs_before);
}

}  // namespace

AddRuns parse_add_runs(const std::string& text) {
  AddRuns goal;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part.starts_with("until=")) {
      goal.until_percent = parse_percent(part.substr(std::string("until=").size()));
    } else if (part.starts_with("max=")) {
      goal.max = parse_runs(part.substr(std::string("max=").size()));
    } else {
      not_a_goal(part);
    }
  }
  return goal;
}

void AddRunsOption::add_to(CLI::App& command) {
  command.add_option("--add-runs", text,
                     "Then repeat the cells whose verdict is open, in whole blocks, until a "
                     "difference of so much would show or a cell has so many runs: "
                     "until=0.5%,max=15");
}

std::optional<AddRuns> AddRunsOption::goal() const {
  if (text.empty()) return std::nullopt;
  return parse_add_runs(text);
}

void append_stored_additions(const Store& store, const StoredExperiment& stored, Plan& plan) {
  for (const RunRecord& run : store.runs(stored.record.id)) {
    if (run.addition == 0) continue;
    const auto cell = std::ranges::find(stored.cells, run.cell_id, &CellRecord::id);
    plan.runs.push_back({static_cast<std::size_t>(cell - stored.cells.begin()), run.repetition,
                         run.block, run.block_position, run.seed, run.addition});
  }
}

std::vector<std::size_t> add_blocks(const Experiment& experiment, const StoredExperiment& stored,
                                    const Comparison& comparison, const AddRuns& goal, Plan& plan) {
  const std::size_t runs_before = plan.runs.size();
  const int addition = latest_addition(plan) + 1;
  const std::map<std::string, OpenGroup> groups = open_groups(comparison);
  for (const CellRecord& cell : stored.cells) {  // groups in the order of the plan
    const auto open = groups.find(cell.group);
    if (open == groups.end() || cell.arm != experiment.baseline) continue;
    const int done = most_repetitions(plan, cell.group);
    const int wanted = runs_of_next_look(done, open->second.noise, goal);
    const std::vector<std::size_t> cells =
        cells_to_repeat(experiment, plan, cell.group, open->second.arms);
    for (int repetition = done + 1; repetition <= wanted; ++repetition) {
      append_block(experiment, cells, repetition, addition, plan);
    }
  }
  if (plan.runs.size() > runs_before) tell(plan, groups, runs_before, goal.until_percent);
  std::vector<std::size_t> added;
  for (std::size_t i = runs_before; i < plan.runs.size(); ++i) added.push_back(i);
  return added;
}

LoopOutcome add_runs(Store& store, const StoredExperiment& stored, const Experiment& experiment,
                     const Host& host, Plan plan, Engine& engine, const AddRuns& goal) {
  append_stored_additions(store, stored, plan);
  ComparisonOptions options;
  options.experiment_id = stored.record.id;
  options.resolution_percent = goal.until_percent;
  LoopOutcome outcome;
  while (true) {
    const std::vector<std::size_t> added =
        add_blocks(experiment, stored, compare_arms(store, options), goal, plan);
    if (added.empty()) return outcome;
    outcome += execute(store, stored, experiment, host, plan, engine, added);
  }
}

}  // namespace numabench
