// --scale-to-host: an experiment of a big host on a small one.
#pragma once

#include <vector>

#include "hosts/topology.h"
#include "runner/config/experiment.h"

namespace numabench {

/// The factor, at most 1, by which all sizes shrink so that the pool and the working set of the
/// largest cell fit into half of the memory of the allowed nodes. Ratios stay. Cells of the regime
/// `none` need no memory and do not count.
double scale_to_host(const std::vector<FactorSet>& cells, const Topology& topology);

/// Four for each allowed CPU: more of them would wait for each other on this host.
int most_clients(const Topology& topology);

}  // namespace numabench
