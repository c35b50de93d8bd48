// Pearson's test of observed counts against exact probabilities.
#pragma once

#include <boost/math/distributions/chi_squared.hpp>
#include <cstdint>
#include <vector>

namespace numabench {

struct Bin {
  double probability = 0;
  std::uint64_t observed = 0;
};

/// The probability of a fit at least this bad if the probabilities were right. Neighbouring bins
/// are merged until each expects ten observations; the probabilities must add up to one.
inline double chi_square_p(const std::vector<Bin>& bins, std::uint64_t observations) {
  double statistic = 0;
  int merged = 0;
  double expected = 0;
  double observed = 0;
  double expected_left = static_cast<double>(observations);
  for (const Bin& bin : bins) {
    const double share = bin.probability * static_cast<double>(observations);
    expected += share;
    observed += static_cast<double>(bin.observed);
    expected_left -= share;
    const bool last = &bin == &bins.back();
    if ((expected < 10 || expected_left < 10) && !last) continue;
    statistic += (observed - expected) * (observed - expected) / expected;
    merged++;
    expected = 0;
    observed = 0;
  }
  if (merged < 2) return 1;
  const boost::math::chi_squared distribution(merged - 1);
  return boost::math::cdf(boost::math::complement(distribution, statistic));
}

}  // namespace numabench
