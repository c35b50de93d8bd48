#include "reports/formats/judgement_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <vector>

#include "hosts/units.h"
#include "reports/formats/grid.h"

namespace numabench {
namespace {

double percent_of_baseline(double log_ratio) { return 100 + percent_of_log(log_ratio); }

/// Of a ratio: as many decimals as its interval deserves.
std::string ratio_text(double log_ratio) { return format_count(percent_of_baseline(log_ratio), 1); }

/// The judgements of a metric that have a verdict, by kind.
std::map<VerdictKind, int> count_verdicts(const Comparison& comparison, const std::string& metric) {
  std::map<VerdictKind, int> counts;
  for (const ComparisonTable& table : comparison.tables) {
    for (const ComparisonRow& row : table.rows) {
      const ComparisonValue* value = row.find(metric);
      if (row.is_copy || value == nullptr || !value->judgement) continue;
      ++counts[value->judgement->verdict.kind];
    }
  }
  return counts;
}

}  // namespace

std::string paired_ratio_text(const Difference& difference) {
  const std::string ratio = ratio_text(difference.log_ratio) + " %";
  if (!difference.interval) return ratio;
  return fmt::format("{} ({}–{})", ratio, ratio_text(difference.interval->low),
                     ratio_text(difference.interval->high));
}

std::string short_verdict(const Judgement& judgement, bool is_copy) {
  if (is_copy) {
    return judgement.floor
               ? fmt::format("A/A ±{} %", short_percent(percent_of_log(*judgement.floor)))
               : "A/A";
  }
  const Verdict& verdict = judgement.verdict;
  if (verdict.kind == VerdictKind::kNoDifference) {
    return fmt::format("none beyond ±{} %", short_percent(verdict.bound_percent));
  }
  return to_string(verdict.kind);
}

std::string noise_text(const MetricNoise& noise) {
  return fmt::format(
      "two copies of the same arm in {}: ±{} % from run to run, {:+.2g} % in all "
      "({} pairs)",
      find_metric(noise.metric)->title, short_percent(percent_of_log(noise.noise.of_pair)),
      percent_of_log(noise.noise.mean), noise.noise.pairs);
}

std::string verdicts_text(const Comparison& comparison) {
  std::vector<std::string> metrics;
  for (const std::string& metric : comparison.judged_metrics) {
    std::vector<std::string> parts;
    for (const auto& [kind, count] : count_verdicts(comparison, metric)) {
      parts.push_back(fmt::format("{} {}", count, to_string(kind)));
    }
    if (parts.empty()) continue;
    metrics.push_back(fmt::format("{}: {}", find_metric(metric)->title, fmt::join(parts, ", ")));
  }
  if (metrics.empty()) return "";
  return fmt::format("{} ({}, {:.0f} %, Benjamini–Hochberg; held to {} noise floor)",
                     fmt::join(metrics, " · "),
                     comparison.before ? "permutation of unpaired runs" : "permutation of pairs",
                     100 * kLevel, comparison.noise.empty() ? "no" : "the");
}

}  // namespace numabench
