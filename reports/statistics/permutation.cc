#include "reports/statistics/permutation.h"

#include <algorithm>
#include <bit>
#include <boost/math/special_functions/binomial.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "reports/statistics/student.h"

namespace numabench {
namespace {

/// Sums of the same numbers in another order differ in their last bits.
constexpr double kRounding = 1e-9;

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// The first sign is held: the other half of the arrangements are these with all signs turned. A
/// Gray code turns one sign at a time.
double exact_sign_flip_p(std::span<const double> differences) {
  std::vector<double> signed_values(differences.begin(), differences.end());
  double magnitude = 0;
  for (const double value : differences) magnitude += std::abs(value);
  double sum = sum_of(differences);
  const double observed = std::abs(sum) - kRounding * magnitude;
  const std::uint64_t arrangements = std::uint64_t{1} << (differences.size() - 1);
  std::uint64_t as_far = 1;  // the observed one
  for (std::uint64_t i = 1; i < arrangements; ++i) {
    double& turned = signed_values[1 + static_cast<std::size_t>(std::countr_zero(i))];
    sum -= 2 * turned;
    turned = -turned;
    if (std::abs(sum) >= observed) ++as_far;
  }
  return static_cast<double>(as_far) / static_cast<double>(arrangements);
}

double student_sign_flip_p(std::span<const double> differences) {
  const auto n = static_cast<double>(differences.size());
  const double error = deviation_of(differences) / std::sqrt(n);
  return student_p(mean_of(differences) / error, n - 1);
}

/// Every choice of `chosen` of the values, as the next in lexicographic order of a mask.
double exact_relabel_p(std::vector<double> values, std::size_t chosen) {
  const double total = sum_of(values);
  const auto n = static_cast<double>(chosen);
  const auto m = static_cast<double>(values.size() - chosen);
  double magnitude = 0;
  for (const double value : values) magnitude += std::abs(value);
  const auto distance = [&](double sum) { return std::abs(sum / n - (total - sum) / m); };
  const double observed =
      distance(sum_of(std::span(values).first(chosen))) - kRounding * magnitude / std::min(n, m);
  std::vector<char> mask(values.size(), 0);
  std::fill_n(mask.begin(), chosen, 1);
  double as_far = 0;
  double arrangements = 0;
  do {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += mask[i] != 0 ? values[i] : 0;
    as_far += distance(sum) >= observed ? 1 : 0;
    ++arrangements;
  } while (std::prev_permutation(mask.begin(), mask.end()));
  return as_far / arrangements;
}

}  // namespace

double sign_flip_p(std::span<const double> differences) {
  if (differences.empty()) return 1;
  if (differences.size() <= static_cast<std::size_t>(kMostExactPairs)) {
    return exact_sign_flip_p(differences);
  }
  return student_sign_flip_p(differences);
}

int fewest_pairs(double level) { return 1 + static_cast<int>(std::ceil(std::log2(1 / level))); }

double attainable_level(double level, int pairs) {
  if (pairs > kMostExactPairs) return level;
  const double step = std::ldexp(1.0, 1 - pairs);
  return step * std::floor(level / step);
}

double relabel_p(std::span<const double> before, std::span<const double> after) {
  if (before.empty() || after.empty()) return 1;
  const auto all = static_cast<unsigned>(before.size() + after.size());
  const double ways =
      boost::math::binomial_coefficient<double>(all, static_cast<unsigned>(before.size()));
  if (ways > kMostExactLabels) return welch(before, after).p;
  std::vector<double> values(before.begin(), before.end());
  values.insert(values.end(), after.begin(), after.end());
  return exact_relabel_p(std::move(values), before.size());
}

std::vector<double> adjust_for_many(const std::vector<double>& p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> adjusted(p_values.size());
  double least = 1;
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const double scaled =
        p_values[order[rank - 1]] * static_cast<double>(order.size()) / static_cast<double>(rank);
    least = std::min(least, scaled);
    adjusted[order[rank - 1]] = least;
  }
  return adjusted;
}

}  // namespace numabench
