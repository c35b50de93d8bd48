#include <fmt/format.h>

#include "hosts/units.h"
#include "reports/formats/grid.h"

namespace numabench {

std::string column_heading(const Metric& metric) {
  if (metric.unit == "us") return metric.title + " µs";
  if (metric.unit == "s") return metric.title + " s";
  return metric.title;
}

std::string format_value(double value, const Metric& metric) {
  if (metric.unit == "B") return format_bytes(value);
  if (metric.unit == "B/s") return format_bytes(value) + "/s";
  return format_count(value, metric.decimals);
}

std::string format_range(double minimum, double maximum, const Metric& metric) {
  std::string from = format_value(minimum, metric);
  const std::string to = format_value(maximum, metric);
  const auto unit = to.find(' ');
  const bool shared = unit != std::string::npos && from.ends_with(to.substr(unit));
  if (shared) from.resize(from.find(' '));
  return from + "–" + to;
}

std::string format_percent(double percent) { return format_count(percent, 1) + " %"; }

}  // namespace numabench
