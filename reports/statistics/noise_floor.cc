#include "reports/statistics/noise_floor.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>

#include "reports/statistics/student.h"

namespace numabench {

std::optional<Noise> measure_noise(std::span<const double> log_ratios) {
  if (log_ratios.empty()) return std::nullopt;
  double squares = 0;
  for (const double value : log_ratios) squares += value * value;
  return Noise{static_cast<int>(log_ratios.size()),
               std::sqrt(squares / static_cast<double>(log_ratios.size())), mean_of(log_ratios)};
}

double noise_floor(const Noise& noise, int pairs) {
  const double reach =
      student_quantile(1 - kConfidence, noise.pairs) * noise.of_pair / std::sqrt(pairs);
  return std::max(std::abs(noise.mean), reach);
}

NoiseBounds noise_bounds(const Noise& noise) {
  constexpr double kTail = 0.05;
  const boost::math::chi_squared_distribution<double> distribution(noise.pairs);
  const double squares = noise.pairs * noise.of_pair * noise.of_pair;
  return {std::sqrt(squares / boost::math::quantile(distribution, 1 - kTail)),
          std::sqrt(squares / boost::math::quantile(distribution, kTail))};
}

}  // namespace numabench
