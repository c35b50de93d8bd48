#include "reports/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hosts/units.h"
#include "reports/formats/formats.h"

namespace numabench {
namespace {

std::string exact_or_empty(std::optional<double> value) {
  return value ? format_exact(*value) : "";
}

const std::vector<std::string>& header() {
  static const std::vector<std::string> names = {"experiment",
                                                 "smoke",
                                                 "workload",
                                                 "workload_parameters",
                                                 "pool_bytes",
                                                 "working_set_bytes",
                                                 "ratio",
                                                 "clients",
                                                 "placement",
                                                 "regime",
                                                 "arm",
                                                 "side",
                                                 "baseline",
                                                 "runs_ok",
                                                 "runs_total",
                                                 "runs_planned",
                                                 "metric",
                                                 "unit",
                                                 "n",
                                                 "median",
                                                 "min",
                                                 "max",
                                                 "percent_of_baseline",
                                                 "pairs",
                                                 "change_pct",
                                                 "change_pct_low",
                                                 "change_pct_high",
                                                 "noise_pct",
                                                 "floor_pct",
                                                 "p",
                                                 "p_adjusted",
                                                 "verdict",
                                                 "reason"};
  return names;
}

std::vector<std::string> factors(const Comparison& comparison, const ComparisonRow& row) {
  const CellRecord& cell = row.cell;
  const ExperimentRecord& experiment =
      row.side == "before" ? *comparison.before : comparison.experiment;
  return {experiment.name,
          experiment.smoke ? "yes" : "no",
          cell.workload,
          cell.workload_parameters,
          fmt::to_string(cell.pool_bytes),
          fmt::to_string(cell.working_set_bytes),
          format_exact(cell.ratio),
          fmt::to_string(cell.clients),
          cell.placement,
          cell.regime,
          cell.arm,
          row.side,
          comparison.baseline_arm,
          fmt::to_string(row.runs_ok),
          fmt::to_string(row.runs_total),
          fmt::to_string(row.runs_planned)};
}

/// A copy has no verdict of its own.
std::vector<std::string> judged(const std::optional<Judgement>& judgement, bool is_copy) {
  if (!judgement) return std::vector<std::string>(9);
  const Difference& difference = judgement->difference;
  const auto& interval = difference.interval;
  const auto& floor = judgement->floor;
  const Verdict& verdict = judgement->verdict;
  return {fmt::to_string(difference.pairs),
          format_exact(percent_of_log(difference.log_ratio)),
          interval ? format_exact(percent_of_log(interval->low)) : "",
          interval ? format_exact(percent_of_log(interval->high)) : "",
          format_exact(percent_of_log(difference.noise)),
          floor ? format_exact(percent_of_log(*floor)) : "",
          format_exact(difference.p),
          is_copy ? "" : format_exact(verdict.p),
          is_copy ? "" : verdict.text()};
}

std::vector<std::string> measures(const ComparisonValue& value, bool is_copy) {
  std::vector<std::string> fields = {value.metric, find_metric(value.metric)->unit};
  if (value.summary) {
    fields.push_back(fmt::to_string(value.summary->n));
    fields.push_back(format_exact(value.summary->median));
    fields.push_back(format_exact(value.summary->minimum));
    fields.push_back(format_exact(value.summary->maximum));
  } else {
    fields.insert(fields.end(), {"0", "", "", ""});
  }
  fields.push_back(exact_or_empty(value.percent_of_baseline));
  std::ranges::copy(judged(value.judgement, is_copy), std::back_inserter(fields));
  fields.push_back(value.reason);
  return fields;
}

}  // namespace

std::string render_csv(const Comparison& comparison, const FormatOptions&) {
  std::string text = csv_line(header());
  for (const ComparisonTable& table : comparison.tables) {
    for (const ComparisonRow& row : table.rows) {
      for (const ComparisonValue& value : row.values) {
        std::vector<std::string> fields = factors(comparison, row);
        const std::vector<std::string> measured = measures(value, row.is_copy);
        fields.insert(fields.end(), measured.begin(), measured.end());
        text += csv_line(fields);
      }
    }
  }
  return text;
}

}  // namespace numabench
