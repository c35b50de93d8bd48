// Tests that count arrangements instead of trusting a distribution.
#pragma once

#include <span>
#include <vector>

namespace numabench {

/// Up to so many pairs all 2^n signs are tried.
inline constexpr int kMostExactPairs = 20;
/// Up to so many ways to share the runs out between two arms all are tried.
inline constexpr double kMostExactLabels = 200'000;

/// Two-sided p-value of "the pairs' differences are as often up as down by the same amount": the
/// share of the 2^n ways to set their signs that give a mean at least as far from 0 (Fisher 1935,
/// "The design of experiments", §21). Never below 2^(1 − n): three pairs cannot give less than
/// 0.25. Above kMostExactPairs Student's t, to which this converges (Fisher, ibid.). 1 of no
/// differences.
double sign_flip_p(std::span<const double> differences);

/// The smallest number of pairs whose sign_flip_p() can be at most `level`.
int fewest_pairs(double level);
/// The greatest p-value at most `level` that `pairs` pairs can give; 0: none.
double attainable_level(double level, int pairs);

/// Two-sided p-value of "both samples are of the same distribution", for runs that are not in
/// pairs: the share of the ways to share the values out that leave the means at least as far apart
/// (Pitman 1937). Above kMostExactLabels ways the t test of Welch (1947). 1 without values in both.
double relabel_p(std::span<const double> before, std::span<const double> after);

/// Benjamini and Hochberg (1995), "Controlling the false discovery rate": the p-values of one
/// family, adjusted so that at most 5 % of those called at 0.05 are expected to be wrong; where no
/// arm differs, at most 5 % of the experiments call any.
std::vector<double> adjust_for_many(const std::vector<double>& p_values);

}  // namespace numabench
