// Figures by gnuplot: a metric against the ratio, a line an arm, min-max of the runs as bars.
#pragma once

#include <string>
#include <vector>

#include "reports/comparison.h"

namespace numabench {

/// Throws Error(kPreflight) naming the package when gnuplot cannot run; a plan that draws checks
/// this before the first run.
void require_gnuplot();

/// Writes <directory>/<table>-<metric>.svg and .png for each table and metric that has values, with
/// the gnuplot script and data beside them, and returns the paths of the images. Every image is
/// checked to be there and not empty. Throws Error(kRun) with gnuplot's own message.
std::vector<std::string> draw_figures(const Comparison& comparison,
                                      const std::vector<std::string>& metrics,
                                      const std::string& directory);

}  // namespace numabench
