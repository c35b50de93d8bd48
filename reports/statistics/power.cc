#include "reports/statistics/power.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "reports/statistics/difference.h"
#include "reports/statistics/noise_floor.h"
#include "reports/statistics/permutation.h"
#include "reports/statistics/student.h"
#include "reports/statistics/verdict.h"

namespace numabench {
namespace {

constexpr std::uint64_t kSeed = 1992;

/// Above so many pairs the permutation test is taken for the t test at the level that it attains.
constexpr int kMostPermuted = 10;

/// How much must be added to each of `differences` for sign_flip_p() to be at most kLevel.
double shift_by_permutation(const std::vector<double>& differences) {
  constexpr int kSteps = 20;
  const auto [least, greatest] = std::ranges::minmax(differences);
  double not_enough = -greatest;
  double enough = -least;  // all of one sign
  std::vector<double> shifted(differences.size());
  for (int step = 0; step < kSteps; ++step) {
    const double middle = std::midpoint(not_enough, enough);
    std::ranges::transform(differences, shifted.begin(), [&](double x) { return x + middle; });
    const bool is_enough = mean_of(shifted) > 0 && sign_flip_p(shifted) <= kLevel;
    (is_enough ? enough : not_enough) = middle;
  }
  return enough;
}

double shift_by_student(const std::vector<double>& differences) {
  const auto n = static_cast<double>(differences.size());
  const double level = attainable_level(kLevel, static_cast<int>(differences.size()));
  const double reach = student_quantile(level, n - 1) * deviation_of(differences) / std::sqrt(n);
  return reach - mean_of(differences);
}

/// In units of the noise of a pair: how large the effect must be for this one experiment to find
/// it. The arm and the copy are beside the same runs of the baseline, so that their ratios go
/// together.
double effect_needed(std::mt19937_64& random, int pairs) {
  std::normal_distribution<double> run(0, std::sqrt(0.5));
  std::vector<double> arm(static_cast<std::size_t>(pairs));
  std::vector<double> copy(arm.size());
  for (std::size_t i = 0; i < arm.size(); ++i) {
    const double baseline = run(random);
    arm[i] = run(random) - baseline;
    copy[i] = run(random) - baseline;
  }
  const double for_test =
      pairs <= kMostPermuted ? shift_by_permutation(arm) : shift_by_student(arm);
  const double above_floor = noise_floor(*measure_noise(copy), pairs) - mean_of(arm);
  return std::max(for_test, above_floor);
}

/// effect_needed() of each simulation, ascending; empty where so few pairs can give no verdict.
std::vector<double> effects_needed(int pairs) {
  if (pairs < fewest_pairs(kLevel)) return {};
  std::mt19937_64 random(kSeed);
  std::vector<double> effects(kSimulations);
  for (double& effect : effects) effect = effect_needed(random, pairs);
  std::ranges::sort(effects);
  return effects;
}

/// In units of the noise; infinite where there is no verdict.
double detectable(int pairs) {
  const std::vector<double> effects = effects_needed(pairs);
  if (effects.empty()) return std::numeric_limits<double>::infinity();
  return effects[static_cast<std::size_t>(kPower * static_cast<double>(effects.size()))];
}

}  // namespace

double power_of(double effect_percent, double noise_percent, int pairs) {
  const std::vector<double> effects = effects_needed(pairs);
  if (effects.empty()) return 0;
  const double effect = std::abs(log_of_percent(effect_percent)) / log_of_percent(noise_percent);
  const auto found = std::ranges::upper_bound(effects, effect) - effects.begin();
  return static_cast<double>(found) / static_cast<double>(effects.size());
}

std::optional<double> detectable_percent(double noise_percent, int pairs) {
  const double effect = detectable(pairs);
  if (std::isinf(effect)) return std::nullopt;
  return percent_of_log(effect * log_of_percent(noise_percent));
}

std::optional<int> pairs_needed(double effect_percent, double noise_percent) {
  const double effect = log_of_percent(effect_percent);
  const double noise = log_of_percent(noise_percent);
  const auto is_enough = [&](int pairs) { return detectable(pairs) * noise <= effect; };
  // Nothing needs fewer than the textbook's formula, of which a tenth is left for its roundings.
  const double textbook = 0.9 * 7.85 * std::pow(noise / effect, 2);
  if (textbook > kMostPairs) return std::nullopt;
  int low = std::max(fewest_pairs(kLevel) - 1, static_cast<int>(textbook));  // not enough
  int high = low + 1;
  while (!is_enough(high)) {
    if (high >= kMostPairs) return std::nullopt;
    low = high;
    high = std::min(2 * high, kMostPairs);
  }
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace numabench
