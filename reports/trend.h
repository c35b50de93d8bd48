// Does a series of seconds drift, or jump? For the seconds of a window and of a warm-up.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/metric.h"

namespace numabench {

/// Mann and Kendall's test for a monotonic trend (Mann 1945; Kendall, Rank Correlation Methods,
/// 1975) with the normal approximation, its correction for continuity and for ties; and the slope
/// of Theil and Sen, the median of the slopes of all pairs (Sen 1968). The approximation is meant
/// for series of ten and more.
struct Trend {
  double p = 1;  ///< two-sided, that there is none
  double slope_per_step = 0;
};
Trend find_trend(const std::vector<double>& series);

/// Pettitt's test for one change point (Pettitt 1979, Applied Statistics 28(2), 126–135) with his
/// approximation of p: 2·exp(−6K² ÷ (n³ + n²)), K the largest of |U(t)|, U(t) the sum of
/// sign(x(i) − x(j)) over i before and j behind t.
struct ChangePoint {
  double p = 1;            ///< that there is none; at most 1
  std::size_t before = 0;  ///< how many come before the likeliest point; 0 for a constant series
};
ChangePoint find_change_point(const std::vector<double>& series);

/// How the seconds of a window behaved.
struct Settling {
  std::vector<MetricValue> values;  ///< tps_drift_pct, tps_drift_p, tps_step_pct, …
  std::string unsettled;            ///< why it was not steady; empty when it was, or was too short
};

/// Unsettled when a trend or a change point is significant (p < 0.01) and large (more than 5 % of
/// the median): seconds are correlated with their neighbours, so that p alone would find something
/// in every long window, and the size alone something in every noisy one. Both limits are rules of
/// this program. Fewer than ten seconds are not judged.
Settling judge_settling(const std::vector<double>& tps_of_seconds);

/// Of a warm-up: no significant trend (p < 0.05) that adds up to more than 2 % over the series.
bool is_flat(const std::vector<double>& series);

double median_of(std::vector<double> series);  ///< NaN of nothing

}  // namespace numabench
