// The noise floor: by how much two copies of the same arm seem to differ.
//
// The runs of the baseline and of its copy (A/A) are paired by block as those of any arm are, and
// the truth is known: their ratio is 1. So the spread about 1, not about their own mean, is the
// noise.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace numabench {

struct Noise {
  int pairs = 0;
  double of_pair = 0;  ///< root mean square of log(copy ÷ baseline); natural logarithm
  double mean = 0;     ///< of log(copy ÷ baseline): what the two copies differ by in all
};

/// Of the log ratios of one cell, or of several taken together. nullopt of none.
std::optional<Noise> measure_noise(std::span<const double> log_ratios);

/// As a log ratio: what a mean of `pairs` pairs must exceed to be more than noise. The larger of
/// the reach of Student's interval about 1 (`noise.pairs` degrees of freedom, since the mean is
/// known) and of what the two copies did differ by.
double noise_floor(const Noise& noise, int pairs);

/// The noise of a pair lies between these with 90 % confidence: chi-squared intervals of a
/// variance.
struct NoiseBounds {
  double low = 0;
  double high = 0;
};
NoiseBounds noise_bounds(const Noise& noise);

}  // namespace numabench
