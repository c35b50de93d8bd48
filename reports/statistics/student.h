// Student's t and Welch's: means, deviations, intervals and p-values of values that are normal.
#pragma once

#include <optional>
#include <span>

namespace numabench {

struct Interval {
  double low = 0;
  double high = 0;
};

/// What every interval promises: it holds the truth in so many of a hundred experiments.
inline constexpr double kConfidence = 0.95;

/// NaN of no values.
double mean_of(std::span<const double> values);
/// With n − 1 in the denominator; 0 of one value or none.
double deviation_of(std::span<const double> values);

/// Quantile of Student's t for `level` of both tails together: what 1.96 is for the normal
/// distribution and a level of 0.05.
double student_quantile(double level, double degrees);
/// Two-sided p-value of `t`; 1 of NaN.
double student_p(double t, double degrees);

/// Student (1908), "The probable error of a mean": right for any number of values from 2 when they
/// are normal. nullopt of fewer.
std::optional<Interval> student_interval(std::span<const double> values);

struct Welch {
  std::optional<Interval> interval;  ///< of mean(after) − mean(before); absent below two values
  double p = 1;
};
/// Welch (1947), "The generalization of Student's problem when several different population
/// variances are involved", with Satterthwaite's degrees of freedom.
Welch welch(std::span<const double> before, std::span<const double> after);

}  // namespace numabench
