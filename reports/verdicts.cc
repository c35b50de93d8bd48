#include "reports/verdicts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "reports/statistics/permutation.h"

namespace numabench {
namespace {

const MetricValue* counted_value(const RunRecord& run, const std::string& metric) {
  if (run.status != RunStatus::kOk) return nullptr;
  const MetricValue* value = find_value(run.values, metric);
  return value != nullptr && value->value ? value : nullptr;
}

struct RunPair {
  const RunRecord* run = nullptr;  ///< the arm's
  double arm = 0;
  double baseline = 0;
};

std::vector<RunPair> pair_runs(const std::vector<RunRecord>& arm,
                               const std::vector<RunRecord>& baseline, const std::string& metric) {
  std::map<int, double> of_baseline;  // by repetition, which counts once
  for (const RunRecord& run : baseline) {
    if (const MetricValue* value = counted_value(run, metric)) {
      of_baseline[run.repetition] = *value->value;
    }
  }
  std::vector<RunPair> pairs;
  for (const RunRecord& run : arm) {
    const MetricValue* value = counted_value(run, metric);
    const auto partner = of_baseline.find(run.repetition);
    if (value == nullptr || partner == of_baseline.end()) continue;
    pairs.push_back({&run, *value->value, partner->second});
  }
  return pairs;
}

/// Rounds of added runs that began when a verdict was possible already: each was a chance to stop.
int earlier_looks(const std::vector<RunPair>& pairs) {
  std::set<int> rounds;
  for (const RunPair& pair : pairs) rounds.insert(pair.run->addition);
  const auto could_be_judged = [&](int round) {
    return std::ranges::count_if(pairs, [round](const RunPair& pair) {
             return pair.run->addition < round;
           }) >= fewest_pairs(kLevel);
  };
  return static_cast<int>(std::ranges::count_if(rounds, could_be_judged));
}

/// Logarithms of the runs that count; empty when one has none.
std::vector<double> logarithms(const std::vector<RunRecord>& runs, const std::string& metric) {
  std::vector<double> values;
  for (const RunRecord& run : runs) {
    const MetricValue* value = counted_value(run, metric);
    if (value == nullptr) continue;
    if (*value->value <= 0) return {};
    values.push_back(std::log(*value->value));
  }
  return values;
}

/// The values of one metric that are to be judged together.
class Family {
 public:
  void add(ComparisonValue& value, const Evidence& evidence) {
    values_.push_back(&value);
    evidence_.push_back(evidence);
  }
  void judge_all(Better better, double resolution_percent) {
    const std::vector<Verdict> verdicts = judge(evidence_, better, resolution_percent);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i]->judgement = Judgement{evidence_[i].difference, evidence_[i].floor, verdicts[i]};
    }
  }

 private:
  std::vector<ComparisonValue*> values_;
  std::vector<Evidence> evidence_;
};

ComparisonValue& value_of(ComparisonRow& row, const std::string& metric) {
  return *std::ranges::find(row.values, metric, &ComparisonValue::metric);
}

template <typename Function>
void for_each_row(Comparison& comparison, Function function) {
  for (ComparisonTable& table : comparison.tables) {
    for (ComparisonRow& row : table.rows) function(row);
  }
}

/// The copy is beside the arm that it is a copy of, whatever the percentages refer to.
void describe_copy(ComparisonRow& row, const NoiseFloors& floors, const ExperimentData& data,
                   const std::string& metric) {
  const CellRecord* original = data.find_cell(row.cell.group, data.copied_arm(row.cell.arm));
  if (original == nullptr) return;
  std::optional<Evidence> evidence =
      paired_evidence(data.runs_of(row.cell), data.runs_of(*original), metric);
  if (!evidence) return;
  floors.hold(*evidence, row.cell.group);
  value_of(row, metric).judgement = Judgement{evidence->difference, evidence->floor, {}};
}

void judge_metric(Comparison& comparison, const ExperimentData& data, const std::string& metric,
                  double resolution_percent) {
  const NoiseFloors floors(data, metric);
  if (floors.pooled()) comparison.noise.push_back({metric, *floors.pooled()});
  Family family;
  for_each_row(comparison, [&](ComparisonRow& row) {
    if (row.is_baseline || !row.problem.empty()) return;
    if (row.is_copy) return describe_copy(row, floors, data, metric);
    const CellRecord* baseline = data.find_cell(row.cell.group, comparison.baseline_arm);
    if (baseline == nullptr) return;
    std::optional<Evidence> evidence =
        paired_evidence(data.runs_of(row.cell), data.runs_of(*baseline), metric);
    if (!evidence) return;
    floors.hold(*evidence, row.cell.group);
    family.add(value_of(row, metric), *evidence);
  });
  family.judge_all(find_metric(metric)->better, resolution_percent);
}

}  // namespace

std::vector<double> paired_log_ratios(const std::vector<RunRecord>& arm,
                                      const std::vector<RunRecord>& baseline,
                                      const std::string& metric) {
  std::vector<double> ratios;
  for (const RunPair& pair : pair_runs(arm, baseline, metric)) {
    if (pair.arm <= 0 || pair.baseline <= 0) return {};
    ratios.push_back(std::log(pair.arm / pair.baseline));
  }
  return ratios;
}

std::optional<Evidence> paired_evidence(const std::vector<RunRecord>& arm,
                                        const std::vector<RunRecord>& baseline,
                                        const std::string& metric) {
  const std::optional<Difference> difference =
      paired_difference(paired_log_ratios(arm, baseline, metric));
  if (!difference) return std::nullopt;
  return Evidence{.difference = *difference,
                  .floor = {},
                  .earlier_looks = earlier_looks(pair_runs(arm, baseline, metric))};
}

NoiseFloors::NoiseFloors(const ExperimentData& data, const std::string& metric) {
  std::vector<double> all;
  for (const CellRecord& cell : data.cells) {
    const CellRecord* original = data.find_cell(cell.group, data.copied_arm(cell.arm));
    if (original == nullptr) continue;
    const std::vector<double> ratios =
        paired_log_ratios(data.runs_of(cell), data.runs_of(*original), metric);
    all.insert(all.end(), ratios.begin(), ratios.end());
    if (ratios.size() > 1) by_group_[cell.group] = *measure_noise(ratios);
  }
  if (all.size() > 1) pooled_ = measure_noise(all);
}

const Noise* NoiseFloors::of_group(const std::string& group) const {
  const auto own = by_group_.find(group);
  if (own != by_group_.end()) return &own->second;
  return pooled_ ? &*pooled_ : nullptr;
}

void NoiseFloors::hold(Evidence& evidence, const std::string& group) const {
  if (const Noise* noise = of_group(group)) {
    evidence.floor = noise_floor(*noise, evidence.difference.pairs);
  }
}

void judge_arms(Comparison& comparison, const ExperimentData& data, double resolution_percent) {
  for_each_row(comparison,
               [&](ComparisonRow& row) { row.is_copy = !data.copied_arm(row.cell.arm).empty(); });
  for (const std::string& metric : comparison.metrics) {
    judge_metric(comparison, data, metric, resolution_percent);
  }
}

void judge_experiments(Comparison& comparison, const ExperimentData& before,
                       const ExperimentData& after, double resolution_percent) {
  for (const std::string& metric : comparison.metrics) {
    Family family;
    for (ComparisonTable& table : comparison.tables) {
      for (std::size_t i = 1; i < table.rows.size(); ++i) {
        ComparisonRow& row = table.rows[i];
        if (row.side != "after") continue;  // the row of its cell "before" stands above it
        const std::optional<Difference> difference =
            unpaired_difference(logarithms(before.runs_of(table.rows[i - 1].cell), metric),
                                logarithms(after.runs_of(row.cell), metric));
        if (difference) family.add(value_of(row, metric), {.difference = *difference, .floor = {}});
      }
    }
    family.judge_all(find_metric(metric)->better, resolution_percent);
  }
}

}  // namespace numabench
