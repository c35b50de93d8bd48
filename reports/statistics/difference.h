// How far one arm is from another: a ratio with its interval and p-value.
//
// Everything is worked out on natural logarithms of ratios, where "twice" and "half" are equally
// far from "equal", and printed in percent.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "reports/statistics/student.h"

namespace numabench {

/// 100 × (e^x − 1): what a log ratio is in percent of the baseline; 0 is equal.
double percent_of_log(double log_ratio);
/// "0.83", "12", "893": two digits below ten percent, whole percents above.
std::string short_percent(double percent);
/// log(1 + percent ÷ 100).
double log_of_percent(double percent);

struct Difference {
  /// Pairs of runs of the same block; of runs that are not paired, the smaller of the two numbers.
  int pairs = 0;
  bool paired = true;
  double log_ratio = 0;              ///< mean of log(arm ÷ baseline); its e^x is a geometric mean
  std::optional<Interval> interval;  ///< of log_ratio; absent with fewer than two pairs
  double p = 1;                      ///< two-sided, before it is adjusted for other comparisons
  double noise = 0;  ///< standard deviation of the log ratio of one pair; 0 of one pair
};

/// Of the log ratios of the pairs: mean_interval() and sign_flip_p(). nullopt of none.
std::optional<Difference> paired_difference(std::span<const double> log_ratios);

/// Of the logarithms of runs that have nothing in common: the interval of Welch (1947), "The
/// generalization of Student's problem", and relabel_p(). nullopt without values on both sides.
std::optional<Difference> unpaired_difference(std::span<const double> before,
                                              std::span<const double> after);

}  // namespace numabench
