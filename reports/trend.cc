#include "reports/trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

namespace numabench {
namespace {

constexpr std::size_t kFewestSeconds = 10;
constexpr double kSignificant = 0.01;
constexpr double kLargePct = 5;
constexpr double kSignificantWarmup = 0.05;
constexpr double kLargeWarmupPct = 2;

double sign(double number) { return number > 0 ? 1 : number < 0 ? -1 : 0; }

double two_sided_p(double z) {
  const boost::math::normal standard;
  return std::min(1.0, 2 * boost::math::cdf(boost::math::complement(standard, std::abs(z))));
}

/// Of the sum of signs under the hypothesis of no trend: (n(n−1)(2n+5) − Σ t(t−1)(2t+5)) ÷ 18 over
/// the sizes t of groups of equal values.
double variance_of_sum(const std::vector<double>& series) {
  const auto term = [](double n) { return n * (n - 1) * (2 * n + 5); };
  std::map<double, int> ties;
  for (const double value : series) ++ties[value];
  double sum = term(static_cast<double>(series.size()));
  for (const auto& [value, count] : ties) sum -= term(count);
  return sum / 18;
}

double total_pct(double slope, const std::vector<double>& series) {
  const double middle = median_of(series);
  if (middle == 0) return 0;
  return 100 * slope * static_cast<double>(series.size()) / middle;
}

double step_pct(const std::vector<double>& series, std::size_t before) {
  const auto split = series.begin() + static_cast<std::ptrdiff_t>(before);
  const double first = median_of({series.begin(), split});
  const double second = median_of({split, series.end()});
  return first == 0 ? 0 : 100 * (second / first - 1);
}

std::vector<MetricValue> too_short() {
  std::vector<MetricValue> values;
  for (const char* metric :
       {"tps_drift_pct", "tps_drift_p", "tps_step_pct", "tps_step_p", "tps_step_at_s"}) {
    values.push_back(MetricValue::absent(
        metric, fmt::format("the window had fewer than {} seconds to judge", kFewestSeconds)));
  }
  return values;
}

}  // namespace

double median_of(std::vector<double> series) {
  if (series.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = series.begin() + static_cast<std::ptrdiff_t>(series.size() / 2);
  std::ranges::nth_element(series, middle);
  if (series.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(series.begin(), middle)) / 2;
}

Trend find_trend(const std::vector<double>& series) {
  double sum = 0;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (std::size_t j = i + 1; j < series.size(); ++j) {
      sum += sign(series[j] - series[i]);
      slopes.push_back((series[j] - series[i]) / static_cast<double>(j - i));
    }
  }
  const double variance = variance_of_sum(series);
  if (slopes.empty() || variance <= 0) return {};
  return {two_sided_p((sum - sign(sum)) / std::sqrt(variance)), median_of(std::move(slopes))};
}

ChangePoint find_change_point(const std::vector<double>& series) {
  ChangePoint point;
  double largest = 0;
  double u = 0;
  for (std::size_t t = 0; t + 1 < series.size(); ++t) {
    for (const double other : series) u += sign(series[t] - other);  // those before cancel out
    if (std::abs(u) <= largest) continue;
    largest = std::abs(u);
    point.before = t + 1;
  }
  const auto n = static_cast<double>(series.size());
  if (point.before > 0) {
    point.p = std::min(1.0, 2 * std::exp(-6 * largest * largest / (n * n * n + n * n)));
  }
  return point;
}

Settling judge_settling(const std::vector<double>& tps) {
  if (tps.size() < kFewestSeconds) return {too_short(), ""};
  const Trend trend = find_trend(tps);
  const double drift_pct = total_pct(trend.slope_per_step, tps);
  const ChangePoint point = find_change_point(tps);
  const double jump_pct = point.before == 0 ? 0 : step_pct(tps, point.before);
  Settling settling;
  settling.values = {
      MetricValue::of("tps_drift_pct", drift_pct), MetricValue::of("tps_drift_p", trend.p),
      MetricValue::of("tps_step_pct", jump_pct), MetricValue::of("tps_step_p", point.p),
      MetricValue::of("tps_step_at_s", static_cast<double>(point.before))};
  if (trend.p < kSignificant && std::abs(drift_pct) > kLargePct) {
    settling.unsettled = fmt::format("tps drifted by {:+.1f} % over the window", drift_pct);
  } else if (point.p < kSignificant && std::abs(jump_pct) > kLargePct) {
    settling.unsettled =
        fmt::format("tps jumped by {:+.1f} % after {} seconds", jump_pct, point.before);
  }
  return settling;
}

bool is_flat(const std::vector<double>& series) {
  const Trend trend = find_trend(series);
  return trend.p >= kSignificantWarmup ||
         std::abs(total_pct(trend.slope_per_step, series)) <= kLargeWarmupPct;
}

}  // namespace numabench
