#include "reports/statistics/student.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace numabench {
namespace {

using Student = boost::math::students_t_distribution<double>;

}  // namespace

double mean_of(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double student_quantile(double level, double degrees) {
  return boost::math::quantile(Student(degrees), 1 - level / 2);
}

double student_p(double t, double degrees) {
  if (std::isnan(t)) return 1;
  if (std::isinf(t)) return 0;
  return 2 * boost::math::cdf(boost::math::complement(Student(degrees), std::abs(t)));
}

std::optional<Interval> student_interval(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  const double half =
      student_quantile(1 - kConfidence, n - 1) * deviation_of(values) / std::sqrt(n);
  return Interval{mean - half, mean + half};
}

Welch welch(std::span<const double> before, std::span<const double> after) {
  if (before.size() < 2 || after.size() < 2) return {};
  const auto n = static_cast<double>(before.size());
  const auto m = static_cast<double>(after.size());
  const double variance_before = std::pow(deviation_of(before), 2) / n;
  const double variance_after = std::pow(deviation_of(after), 2) / m;
  const double variance = variance_before + variance_after;
  const double distance = mean_of(after) - mean_of(before);
  if (variance == 0) return {Interval{distance, distance}, distance == 0 ? 1.0 : 0.0};
  const double degrees =
      variance * variance /
      (variance_before * variance_before / (n - 1) + variance_after * variance_after / (m - 1));
  const double error = std::sqrt(variance);
  const double half = student_quantile(1 - kConfidence, degrees) * error;
  return {Interval{distance - half, distance + half}, student_p(distance / error, degrees)};
}

}  // namespace numabench
