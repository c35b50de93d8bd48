// A series of patches, step by step: which patch is the first to change a metric.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "hosts/error.h"
#include "hosts/spelling.h"
#include "hosts/units.h"
#include "reports/arm_facts.h"
#include "reports/comparison.h"
#include "reports/comparison_rows.h"
#include "reports/verdicts.h"

namespace numabench {
namespace {

/// The arms of the series by how many patches they have.
std::vector<ArmRecord> arms_of_series(const std::vector<ArmRecord>& arms, const std::string& name) {
  std::vector<ArmRecord> steps;
  std::set<std::string> known;
  for (const ArmRecord& arm : arms) {
    if (!arm.series.empty()) known.insert(arm.series);
    if (arm.series == name) steps.push_back(arm);
  }
  if (steps.empty() || name.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("the experiment has no series '{}'", name),
                known.empty() ? "it has none: write 'series: each-prefix' into an arm with patches"
                              : suggest(name, {known.begin(), known.end()}));
  }
  std::ranges::sort(steps, {}, &ArmRecord::series_position);
  return steps;
}

std::string last_patch_of(const ArmRecord& arm) {
  const auto facts = arm_facts(arm);
  if (facts && !facts->patches.empty()) return facts->patches.back().name;
  return fmt::format("patch {}", arm.series_position);  // its arm could not even be prepared
}

bool has_value(const Comparison& comparison, const std::string& metric) {
  for (const ComparisonTable& table : comparison.tables) {
    for (const ComparisonRow& row : table.rows) {
      const ComparisonValue* value = row.find(metric);
      if (value != nullptr && value->summary) return true;
    }
  }
  return false;
}

/// "0002-Sleep.patch: tps 0.31 times the step before", with the patches that may share the blame.
std::string describe_step(const SeriesTable& table, std::size_t index) {
  const SeriesStep& step = table.steps[index];
  std::string text = step.patch;
  std::size_t before = index - 1;
  for (; !table.steps[before].summary; --before) {
    text += fmt::format(" (or {}, which has no result)", table.steps[before].patch);
  }
  if (!step.ratio_to_step_before) {
    return fmt::format("{}: {} is 0 in the step before, and no more", text, table.metric);
  }
  return fmt::format("{}: {} {:.2f} times the {}", text, table.metric, *step.ratio_to_step_before,
                     before + 1 == index ? "step before" : "last step with a result");
}

bool has_changed(const SeriesStep& step) {
  return step.judgement && step.judgement->verdict.is_difference();
}

/// How far the medians of this step and of the one before are apart, in either direction.
double distance(const SeriesStep& step) {
  constexpr double kNone = -1;
  if (!step.judgement) return kNone;
  return std::abs(step.judgement->difference.log_ratio);
}

/// The widest bound of the verdicts when all of them are "no difference"; nullopt else.
std::optional<double> common_bound_percent(const SeriesTable& table) {
  std::optional<double> bound;
  for (const SeriesStep& step : table.steps) {
    if (!step.judgement) continue;
    const Verdict& verdict = step.judgement->verdict;
    if (verdict.kind != VerdictKind::kNoDifference) return std::nullopt;
    bound = std::max(bound.value_or(0), verdict.bound_percent);
  }
  return bound;
}

/// Where no verdict is a difference: whether there is none, or it cannot be told.
std::string conclude_without_change(const SeriesTable& table) {
  std::string text = fmt::format("no patch of the series is shown to change {}", table.metric);
  const auto farthest = std::ranges::max_element(table.steps, {}, distance);
  if (const std::optional<double> bound = common_bound_percent(table)) {
    text = fmt::format("no patch of the series changes {} beyond ±{:.2g} %", table.metric, *bound);
  } else if (farthest->judgement) {
    text +=
        fmt::format("; farthest from the step before ({}): {}", farthest->judgement->verdict.text(),
                    describe_step(table, static_cast<std::size_t>(farthest - table.steps.begin())));
  }
  const auto without = std::ranges::count_if(
      table.steps, [](const SeriesStep& step) { return !step.summary.has_value(); });
  if (without == 0) return text;
  return fmt::format("{}; {} of {} steps have no result", text, without, table.steps.size());
}

std::string conclude(const SeriesTable& table) {
  const auto changed = std::ranges::find_if(table.steps, has_changed);
  if (changed == table.steps.end()) return conclude_without_change(table);
  return fmt::format("{} ({})",
                     describe_step(table, static_cast<std::size_t>(changed - table.steps.begin())),
                     changed->judgement->verdict.text());
}

/// The verdicts of a series in one group are a family of their own: each step beside the last one
/// before it that has a result.
void judge_steps(SeriesTable& table, const std::string& group, const ExperimentData& data,
                 double resolution_percent) {
  const NoiseFloors floors(data, table.metric);
  std::vector<SeriesStep*> judged;
  std::vector<Evidence> family;
  const SeriesStep* before = nullptr;
  for (SeriesStep& step : table.steps) {
    if (!step.summary) continue;
    if (before != nullptr) {
      if (before->summary->median != 0) {
        step.ratio_to_step_before = step.summary->median / before->summary->median;
      }
      std::optional<Evidence> evidence =
          paired_evidence(data.runs_of(*data.find_cell(group, step.arm)),
                          data.runs_of(*data.find_cell(group, before->arm)), table.metric);
      if (evidence) {
        floors.hold(*evidence, group);
        judged.push_back(&step);
        family.push_back(*evidence);
      }
    }
    before = &step;
  }
  const std::vector<Verdict> verdicts =
      judge(family, find_metric(table.metric)->better, resolution_percent);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    judged[i]->judgement = Judgement{family[i].difference, family[i].floor, verdicts[i]};
  }
  table.conclusion = conclude(table);
}

using RowRange = std::pair<std::vector<ComparisonRow>::const_iterator,
                           std::vector<ComparisonRow>::const_iterator>;

SeriesStep make_step(const RowRange& rows, const std::string& arm, const std::string& patch,
                     const std::string& metric) {
  SeriesStep step{.arm = arm,
                  .patch = patch,
                  .summary = {},
                  .reason = "not selected",
                  .ratio_to_step_before = {}};
  const auto row = std::find_if(rows.first, rows.second,
                                [&](const ComparisonRow& other) { return other.cell.arm == arm; });
  if (row == rows.second) return step;
  const ComparisonValue& value = *row->find(metric);
  step.summary = value.summary;
  step.reason = value.reason;
  return step;
}

/// Rows of one table stand by ratio: a group of cells is a run of equal ratios.
void add_series_tables(Comparison& comparison, const ComparisonTable& table,
                       const std::vector<ArmRecord>& steps, const std::string& metric,
                       const ExperimentData& data, double resolution_percent) {
  for (auto first = table.rows.begin(); first != table.rows.end();) {
    const double ratio = first->cell.ratio;
    const auto end = std::find_if(first, table.rows.end(), [ratio](const ComparisonRow& row) {
      return row.cell.ratio != ratio;
    });
    SeriesTable series{.title = fmt::format("{} of {}, patch by patch · {} · ratio {}", metric,
                                            steps.front().series, table.title, format_exact(ratio)),
                       .metric = metric,
                       .steps = {},
                       .conclusion = {}};
    series.steps.push_back(make_step({first, end}, comparison.baseline_arm, "", metric));
    for (const ArmRecord& arm : steps) {
      series.steps.push_back(make_step({first, end}, arm.name, last_patch_of(arm), metric));
    }
    judge_steps(series, first->cell.group, data, resolution_percent);
    comparison.series.push_back(std::move(series));
    first = end;
  }
}

}  // namespace

Comparison compare_series(const Store& store, const ComparisonOptions& options,
                          const std::string& name) {
  const std::vector<ArmRecord> steps = arms_of_series(store.arms(options.experiment_id), name);
  std::string baseline = options.baseline_arm;
  if (baseline.empty()) {
    if (const auto experiment = store.experiment(options.experiment_id)) {
      baseline = experiment->baseline_arm;
    }
  }
  ComparisonOptions of_series = options;
  if (of_series.metrics.empty()) of_series.metrics = {"tps", "scans_per_s"};
  of_series.wanted = [&](const CellRecord& cell) {
    const bool step =
        cell.arm == baseline || std::ranges::find(steps, cell.arm, &ArmRecord::name) != steps.end();
    return step && (!options.wanted || options.wanted(cell));
  };
  Comparison comparison = compare_arms(store, of_series);
  const auto measured = std::ranges::find_if(
      comparison.metrics, [&](const std::string& metric) { return has_value(comparison, metric); });
  const std::string metric =
      measured == comparison.metrics.end() ? comparison.metrics.front() : *measured;
  const ExperimentData data = read_experiment(store, options.experiment_id);
  for (const ComparisonTable& table : comparison.tables) {
    add_series_tables(comparison, table, steps, metric, data, options.resolution_percent);
  }
  return comparison;
}

}  // namespace numabench
