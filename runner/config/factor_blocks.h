// The factor lists at the top of an experiment, and the blocks of `matrix` that override them.
#pragma once

#include <vector>

#include "hosts/topology.h"
#include "runner/config/definitions.h"
#include "runner/config/factors.h"
#include "runner/config/yaml_tree.h"

namespace numabench {

/// What the lists of names define as they are read.
struct NamedFactors {
  Definitions& arms;
  Definitions& workloads;
  Definitions& placements;
};

/// Throws Error(kUsage) when the sizes that it does not hold are listed.
Hold read_hold(const YamlNode& root);

/// One block for each of `matrix`, or one of the top-level lists without it; `placements` defaults
/// to "free" and `regimes` to `usual_regime`. Throws Error(kUsage) for a factor that no list gives.
std::vector<FactorLists> read_blocks(const YamlNode& root, Hold hold, Regime usual_regime,
                                     NamedFactors named, const Topology& topology);

}  // namespace numabench
