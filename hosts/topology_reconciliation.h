// Where hwloc, libnuma and the kernel disagree about a host. The kernel is believed: it is what
// binds. Part of reading a Topology.
#pragma once

#include <string>
#include <vector>

#include "hosts/kernel_topology.h"
#include "hosts/topology.h"

namespace numabench {

/// The kind of a node whose memory is a GPU's.
inline constexpr const char* kGpuMemory = "GPU memory";

class KernelReconciliation {
 public:
  KernelReconciliation(Topology& topology, const KernelTopology& kernel)
      : topology_(topology), kernel_(kernel) {}

  /// Makes of the topology what the kernel says. A warning for each difference, with who is
  /// believed and why; none where the kernel has no nodes to say anything of.
  std::vector<std::string> run();

 private:
  void add_hidden_nodes();
  void judge_hidden_nodes(const IdSet& hidden);
  void take_cpus();
  void take_memory();
  void take_distances();
  void take_offline_cpus();
  void take_allowed_cpus();
  void take_allowed_nodes();
  void ask_libnuma();
  Node* find(int id);

  Topology& topology_;
  const KernelTopology& kernel_;
  std::vector<std::string> warnings_;
};

}  // namespace numabench
