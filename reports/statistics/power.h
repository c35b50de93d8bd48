// How many runs it takes to find a difference, and how small a one so many runs can find.
//
// The rule whose power this is: judge() of one comparison held against an A/A copy with as many
// runs. The textbook's n = ((1.96 + 0.84) σ ⁄ δ)² (Lehr 1992) knows neither the noise floor nor
// that six pairs are the fewest, so the rule is simulated with normal noise (seeded, kSimulations
// times) in units of the noise; one simulation serves all sizes of difference.
#pragma once

#include <optional>

namespace numabench {

inline constexpr double kPower = 0.80;
inline constexpr int kSimulations = 4000;
/// Nobody runs a cell more often.
inline constexpr int kMostPairs = 500;

/// The share of experiments with `pairs` pairs that find an effect of `effect_percent`, when the
/// standard deviation of one pair's ratio is `noise_percent`.
double power_of(double effect_percent, double noise_percent, int pairs);

/// The smallest difference in percent that is found with kPower; nullopt where so few pairs can
/// give no verdict.
std::optional<double> detectable_percent(double noise_percent, int pairs);

/// The fewest pairs that find `effect_percent` with kPower; nullopt: more than kMostPairs.
std::optional<int> pairs_needed(double effect_percent, double noise_percent);

}  // namespace numabench
