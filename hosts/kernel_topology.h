// What the kernel itself says of a host's nodes and CPUs: the second opinion on hwloc, and the one
// that counts, since memory policies and affinities are the kernel's.
//
// Start here: `read_kernel_topology()`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hosts/id_set.h"

namespace numabench {

struct KernelNode {
  int id = 0;
  IdSet cpus;
  std::uint64_t memory_bytes = 0;
};

struct KernelTopology {
  std::vector<KernelNode> nodes;  ///< those online, ascending ids; empty without /sys
  std::map<std::pair<int, int>, int> distances;
  IdSet offline_cpus;
  IdSet gpu_nodes;          ///< whose memory is a GPU's, by NVIDIA's driver
  bool fake_nodes = false;  ///< started with numa=fake
};

/// From /sys and /proc below `root`: "" for this host, or a folder of hwloc-gather-topology.
KernelTopology read_kernel_topology(const std::string& root);

/// The CPUs that this process may run on: its cpuset, not its affinity, which is asked for all CPUs
/// and put back; calling thread only. Empty where that is forbidden.
IdSet read_allowed_cpus();

/// The nodes that this process may have memory from (Mems_allowed_list); empty without /proc.
IdSet read_allowed_nodes();

}  // namespace numabench
