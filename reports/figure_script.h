// One figure as a gnuplot script with its data.
#pragma once

#include <string>

#include "reports/comparison.h"

namespace numabench {

/// Writes <directory>/<base>.gp and a <base>-<N>.dat for each line of the figure. Run by gnuplot in
/// that directory the script writes <base>.svg and <base>.png, and it can be run again anywhere the
/// files are taken to. `table` must have a value of `metric`. Throws Error(kRun) when a file cannot
/// be written.
void write_figure_script(const Comparison& comparison, const ComparisonTable& table,
                         const Metric& metric, const std::string& directory,
                         const std::string& base);

}  // namespace numabench
