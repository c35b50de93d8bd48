#include "reports/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace numabench {

std::optional<Summary> summarize(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const double median = std::midpoint(values[(n - 1) / 2], values[n / 2]);
  return Summary{static_cast<int>(n), median, values.front(), values.back()};
}

std::optional<double> spread_percent(const Summary& summary) {
  if (summary.minimum == summary.maximum) return 0.0;
  if (summary.median == 0) return std::nullopt;
  return 100 * (summary.maximum - summary.minimum) / std::abs(summary.median);
}

}  // namespace numabench
