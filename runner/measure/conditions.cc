#include "runner/measure/conditions.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace numabench {
namespace {

using Values = std::vector<MetricValue>;

std::optional<double> value_of(const Values& values, const char* metric) {
  const MetricValue* found = find_value(values, metric);
  return found == nullptr ? std::nullopt : found->value;
}

MetricValue working_set_off(const Values& values, double planned) {
  const char* metric = "working_set_off_pct";
  if (planned <= 0) return MetricValue::absent(metric, "the working set was not planned");
  const std::optional<double> measured = value_of(values, "working_set_ratio");
  if (!measured) return MetricValue::absent(metric, "the working set was not measured");
  return MetricValue::of(metric, 100 * std::abs(*measured / planned - 1));
}

MetricValue huge_pages_missing(const Values& values, bool asked) {
  const char* metric = "huge_pages_missing_bytes";
  if (!asked) return MetricValue::absent(metric, "huge pages were not required");
  const std::optional<double> huge = value_of(values, "huge_page_bytes");
  if (!huge) return MetricValue::absent(metric, "the kernel does not tell which pages are huge");
  double pool = 0;
  for (const MetricValue& value : values) {
    if (value.metric.starts_with("pool_bytes_node")) pool += value.value.value_or(0);
  }
  return MetricValue::of(metric, std::max(0.0, pool - *huge));
}

MetricValue load_generator(const Values& values, bool has_server) {
  const char* metric = "load_generator_pct";
  if (!has_server)
    return MetricValue::absent(metric, "the clients do the engine's work themselves");
  const std::optional<double> share = value_of(values, "client_cpu_pct");
  if (!share) return MetricValue::absent(metric, "the clients' CPU time was not measured");
  return MetricValue::of(metric, *share);
}

/// A scanner that has read pages has worked, though its scan outlasts the window.
MetricValue finished_work(const Values& values) {
  const std::optional<double> transactions = value_of(values, "transactions");
  const std::optional<double> scans = value_of(values, "scans");
  if (!transactions && !scans) {
    return MetricValue::absent("finished_work", "the engine counts no transactions");
  }
  const double finished = transactions.value_or(0) + scans.value_or(0);
  const bool only_scanners = !transactions && finished == 0;
  return MetricValue::of(
      "finished_work", only_scanners ? value_of(values, "scan_bytes_per_s").value_or(0) : finished);
}

}  // namespace

std::vector<MetricValue> condition_values(const std::vector<MetricValue>& values,
                                          const AskedConditions& asked) {
  return {working_set_off(values, asked.working_set_ratio),
          huge_pages_missing(values, asked.huge_pages), load_generator(values, asked.has_server),
          finished_work(values)};
}

}  // namespace numabench
