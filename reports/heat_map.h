// A matrix as a picture: a square a pair, its number in it.
#pragma once

#include <string>
#include <vector>

namespace numabench {

struct HeatMap {
  std::string title;        ///< "load latency, ns"
  std::string row_axis;     ///< "from node"
  std::string column_axis;  ///< "to node"
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<std::vector<double>> values;  ///< [row][column]; NaN is an empty square
  bool lower_is_better = true;              ///< which end of the scale is dark
  int decimals = 1;
};

/// Writes <directory>/<base>.svg and .png beside their script and data; returns the paths. Throws
/// Error(kPreflight) without gnuplot, Error(kRun) with its message.
std::vector<std::string> draw_heat_map(const HeatMap& map, const std::string& directory,
                                       const std::string& base);

}  // namespace numabench
