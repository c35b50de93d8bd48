// Does the order in which runs were taken explain their results? What a reader who distrusts the
// order asks first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/store.h"

namespace numabench {

/// Kruskal and Wallis's test (1952, JASA 47) that groups are of one distribution: H of the ranks,
/// corrected for ties, against chi-squared with one degree of freedom less than there are groups.
/// 1 when fewer than two groups have members, or all values are equal.
double kruskal_wallis_p(const std::vector<std::vector<double>>& groups);

/// Mann and Kendall's p (trend.h) of `results` in the order of `factor`.
double factor_trend_p(std::vector<std::pair<double, double>> factor_and_results);

/// Lines for the reader: whether the position in the block, the time since the start of the server
/// and the place in the whole experiment explain something of the runs' speed, each run taken as a
/// multiple of its cell's median; and how the drift control came out beside the run that it
/// repeats. Cells with fewer than two runs tell nothing; with fewer than twelve runs in all there
/// is nothing to test.
std::vector<std::string> order_notes(const std::map<std::int64_t, std::vector<RunRecord>>& by_cell,
                                     const std::vector<RunRecord>& drift_controls);

}  // namespace numabench
