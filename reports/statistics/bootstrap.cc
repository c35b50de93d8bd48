#include "reports/statistics/bootstrap.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace numabench {
namespace {

constexpr std::uint64_t kSeed = 1987;

using Normal = boost::math::normal_distribution<double>;

/// Means of resamples, ascending.
std::vector<double> resampled_means(std::span<const double> values) {
  const auto n = static_cast<std::uint64_t>(values.size());
  std::mt19937_64 random(kSeed);
  std::vector<double> means(kBootstrapResamples);
  for (double& mean : means) {
    double sum = 0;
    for (std::uint64_t i = 0; i < n; ++i) sum += values[((random() >> 32) * n) >> 32];
    mean = sum / static_cast<double>(n);
  }
  std::ranges::sort(means);
  return means;
}

/// How far the bootstrap's median is from the estimate, in normal deviates; ties count half.
double bias_correction(const std::vector<double>& means, double estimate) {
  const auto [first, last] = std::equal_range(means.begin(), means.end(), estimate);
  const double rank = static_cast<double>(first - means.begin() + (last - means.begin())) / 2;
  const double count = static_cast<double>(means.size());
  const double share = std::clamp(rank / count, 0.5 / count, 1 - 0.5 / count);
  return boost::math::quantile(Normal(), share);
}

/// Efron's a, of a mean: Σ(x − x̄)³ ÷ (6 (Σ(x − x̄)²)^1.5).
double acceleration(std::span<const double> values, double mean) {
  double squares = 0;
  double cubes = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
    cubes += std::pow(value - mean, 3);
  }
  return cubes / (6 * std::pow(squares, 1.5));
}

/// Between the two nearest of `sorted`.
double quantile_of(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

Interval bca_interval(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  if (deviation_of(values) == 0) return {mean, mean};
  const std::vector<double> means = resampled_means(values);
  const double bias = bias_correction(means, mean);
  const double skew = acceleration(values, mean);
  const double reach = student_quantile(1 - kConfidence, n - 1) * std::sqrt(n / (n - 1));
  const auto limit = [&](double deviate) {
    const double shifted = bias + deviate;
    return quantile_of(means, boost::math::cdf(Normal(), bias + shifted / (1 - skew * shifted)));
  };
  return {limit(-reach), limit(reach)};
}

std::optional<Interval> mean_interval(std::span<const double> values) {
  if (values.size() < static_cast<std::size_t>(kFewestForBootstrap)) {
    return student_interval(values);
  }
  const Interval student = *student_interval(values);
  const Interval bootstrap = bca_interval(values);
  return Interval{std::min(student.low, bootstrap.low), std::max(student.high, bootstrap.high)};
}

}  // namespace numabench
