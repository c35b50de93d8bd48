// The cells of an experiment: the product of each matrix block, with zip and exclude applied.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "runner/config/experiment.h"
#include "runner/config/factors.h"

namespace numabench {

/// Factors that vary together.
struct Zip {
  std::vector<std::size_t> factors;
  Origin origin;
};

/// Cells that are left out: those that agree with every factor named.
struct Exclusion {
  std::array<std::vector<std::string>, kFactors> names;  ///< of all but the numbers
  std::array<std::vector<double>, kFactors> numbers;     ///< of sizes, ratios and clients
  Origin origin;
};

/// What --smoke and --scale-to-host shrink every cell to, after `exclude` has seen the values as
/// written.
struct CellLimits {
  double scale = 1;  ///< of the pools, before the limit
  std::uint64_t pool_bytes = std::numeric_limits<std::uint64_t>::max();
  int clients = std::numeric_limits<int>::max();
  std::string source;  ///< origin of what was shrunk
};

/// The cells in order, without duplicates, with the origins of their numbers.
struct CellList {
  std::vector<FactorSet> cells;
  std::map<std::string, Origin> origins;  ///< "cells.N.regime", ".pool", ".ratio", ".clients"
};

std::vector<Zip> read_zips(const YamlNode& node, Hold hold);
std::vector<Exclusion> read_exclusions(const YamlNode& node, Hold hold,
                                       const Experiment& experiment, const Topology& topology);

/// The union of the blocks' products. Throws Error(kUsage) for lists of unequal lengths in a zip,
/// an exclusion that matches nothing, and when nothing is left.
CellList expand_cells(const std::vector<FactorLists>& blocks, const std::vector<Zip>& zips,
                      const std::vector<Exclusion>& exclusions, Hold hold,
                      const CellLimits& limits);

/// `cells`: the explicit list of the canonical form.
CellList read_cells(const YamlNode& node, const Experiment& experiment, const Topology& topology,
                    const CellLimits& limits);

}  // namespace numabench
