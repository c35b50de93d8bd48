// The catalogue of metrics: what each number is, its unit and which direction is better.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace numabench {

enum class Better { kHigher, kLower, kNone };
std::string to_string(Better better);  ///< "higher", "lower", "none"

struct Metric {
  std::string name;  ///< "tps", "adv_per_victim": the key in the store and in exports
  std::string unit;  ///< "1/s", "%", "us", "" for plain counts and ratios
  Better better = Better::kNone;
  int decimals = 0;         ///< how many to print
  std::string title;        ///< column heading
  std::string description;  ///< one sentence, with the formula where there is one
};

/// All metrics, in the order reports list them.
const std::vector<Metric>& metric_catalogue();
/// The part of the catalogue that the embedded engine has no such thing for.
const std::vector<Metric>& server_metrics();
/// nullptr if unknown. `pool_bytes_node<N>` and the like are found for every N.
const Metric* find_metric(std::string_view name);

/// One measured number, or why there is none. Never 0 for "not measured".
struct MetricValue {
  std::string metric;
  std::optional<double> value;
  std::string reason;  ///< set exactly when value is absent

  static MetricValue of(std::string metric, double value) { return {std::move(metric), value, ""}; }
  static MetricValue absent(std::string metric, std::string reason) {
    return {std::move(metric), std::nullopt, std::move(reason)};
  }
};

/// The value of `metric` in `values`; nullptr when they do not name it.
const MetricValue* find_value(const std::vector<MetricValue>& values, std::string_view metric);

}  // namespace numabench
