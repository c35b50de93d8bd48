// The factors of an experiment: their names, their values and where each was written.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hosts/topology.h"
#include "runner/config/experiment.h"
#include "runner/config/yaml_tree.h"

namespace numabench {

/// In the order in which the product is written out: the last one varies fastest, so that the arms
/// of a group stand together.
enum Factor : std::size_t { kWorkload, kRegime, kPlacement, kSize, kRatio, kClients, kArm };
inline constexpr std::size_t kFactors = 7;

/// What `hold` holds fixed while the ratio varies: the size that the experiment lists.
enum class Hold { kPool, kWorkingSet };

/// "arm" and "arms"; kSize is "pool" or "working_set" by `hold`.
std::string factor_name(std::size_t factor, Hold hold);
std::string factor_list_name(std::size_t factor, Hold hold);
/// All names of the factors' lists, in order.
std::vector<std::string> factor_list_names(Hold hold);

template <typename T>
struct Placed {
  T value;
  Origin origin;
};

/// The values of one matrix block.
struct FactorLists {
  std::vector<Placed<std::string>> arms;
  std::vector<Placed<std::string>> workloads;  ///< labels
  std::vector<Placed<Regime>> regimes;
  std::vector<Placed<std::string>> placements;
  std::vector<Placed<std::uint64_t>> sizes;  ///< bytes of the pools or of the working sets
  std::vector<Placed<double>> ratios;
  std::vector<Placed<int>> clients;
  std::array<Origin, kFactors> places;  ///< of the lists

  std::array<std::size_t, kFactors> lengths() const;
};

/// Single values. An expression is resolved against `topology` and kept in the origin. Throw
/// Error(kUsage) at the place of the value.
Placed<std::uint64_t> read_size(const YamlNode& node, const std::string& what,
                                const Topology& topology);
Placed<double> read_ratio(const YamlNode& node);
Placed<Regime> read_regime(const YamlNode& node);
Placed<int> read_clients(const YamlNode& node, const Topology& topology);

/// Whole 8 KiB pages of a pool of `bytes`, rounded down; at least PostgreSQL's 16 buffers, else
/// Error(kUsage) at `where`.
std::uint64_t whole_pool(double bytes, const Origin& where);

}  // namespace numabench
