// hwloc's description of a host -> Topology. Which host hwloc describes is topology_source.cc's
// business.
#pragma once

#include <hwloc.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "hosts/kernel_topology.h"
#include "hosts/topology.h"

namespace numabench {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

/// Fills a Topology from a loaded hwloc topology.
class TopologyReader {
 public:
  TopologyReader(HwlocTopology hwloc, std::string source) : hwloc_(std::move(hwloc)) {
    result_.source_ = std::move(source);
  }

  /// What hwloc says, held against `kernel` where there is one.
  Topology read(const std::optional<KernelTopology>& kernel);

 private:
  void read_nodes();
  void read_cpus();
  void read_groups();
  void read_offline_cpus();
  void read_caches();
  void read_distances();
  void read_memory_attributes();
  void read_memory_attribute(hwloc_memattr_id_t attribute, hwloc_obj_t node);
  int node_of(int cpu) const;
  void give_cpus_their_nodes();
  void warn_of_inherited_affinity();

  HwlocTopology hwloc_;
  Topology result_;
};

}  // namespace numabench
