// Statistics of the few runs of a cell.
#pragma once

#include <optional>
#include <vector>

namespace numabench {

struct Summary {
  int n = 0;
  double median = 0;  ///< mean of the two middle values when n is even
  double minimum = 0;
  double maximum = 0;
};

/// nullopt of no values.
std::optional<Summary> summarize(std::vector<double> values);

/// (maximum - minimum) / |median| in percent; nullopt when the median is 0 and the range is not;
/// 0 when all values are equal.
std::optional<double> spread_percent(const Summary& summary);

}  // namespace numabench
