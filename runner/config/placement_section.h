// An entry of `placements`: "free", "spread", or a map of roles with numactl's options.
//
// A role: {cpunodebind | physcpubind: IDS, membind | preferred | preferred_many | interleave |
// weighted_interleave: IDS or localalloc: true, balancing: true (with membind), spread: cores |
// nodes | packages | smt-last (clients and scanners), touch: true (server)}. IDS is what numactl
// takes: "0-3,8", all, "+0-1" (counted among the allowed), "!2" (all but these), and for memory
// `same`: the nodes of cpunodebind.
#pragma once

#include <map>
#include <string>

#include "hosts/topology.h"
#include "runner/config/experiment.h"
#include "runner/config/yaml_tree.h"

namespace numabench {

std::string placement_name(const YamlNode& item);

/// "free" and "spread", which are not defined by a map of roles.
bool is_built_in_placement(const std::string& name);

/// The key of a role that asks for a memory policy, which is not kDefault: "membind".
std::string memory_key(MemoryPolicy policy);

/// Ids are resolved on the topology. Those of a `stored` experiment are taken as they are: they may
/// be another host's, to be looked at here; check() refuses to run them. On a host whose nodes
/// contradict each other a placement that goes by nodes has a refusal, and its ids are not looked
/// at. Throws Error(kUsage), and Error(kPreflight) for a CPU or node that is not there or not
/// allowed, naming those that are.
PlacementConfig read_placement(const YamlNode& item, const Topology& topology, bool stored,
                               std::map<std::string, Origin>& origins);

}  // namespace numabench
