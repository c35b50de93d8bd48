// What of a host a placement cannot use, said before anybody asks for it.
#pragma once

#include <string>
#include <vector>

#include "hosts/topology.h"

namespace numabench {

/// "nodes 2-7 without CPUs and memory: left out of every placement", one for each kind of it.
std::vector<std::string> topology_warnings(const Topology& topology);

}  // namespace numabench
