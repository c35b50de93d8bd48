#include "hosts/topology.h"

#include <algorithm>
#include <iterator>

namespace numabench {

IdSet Topology::allowed_cpus() const {
  IdSet ids;
  for (const Cpu& cpu : cpus_) {
    if (cpu.allowed) ids.insert(cpu.id);
  }
  return ids;
}

IdSet Topology::allowed_nodes() const {
  IdSet ids;
  for (const Node& node : nodes_) {
    if (node.allowed && node.memory_bytes > 0) ids.insert(node.id);
  }
  return ids;
}

IdSet Topology::nodes_with_cpus() const {
  IdSet ids;
  for (const Node& node : nodes_) {
    if (!cpus_of_node(node.id).empty()) ids.insert(node.id);
  }
  return ids;
}

std::uint64_t Topology::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const Node& node : nodes_) {
    if (node.allowed) bytes += node.memory_bytes;
  }
  return bytes;
}

IdSet Topology::cpus_of_node(int id) const {
  const auto node = std::find_if(nodes_.begin(), nodes_.end(),
                                 [id](const Node& other) { return other.id == id; });
  IdSet ids;
  if (node == nodes_.end()) return ids;
  const IdSet allowed = allowed_cpus();
  std::set_intersection(node->cpus.begin(), node->cpus.end(), allowed.begin(), allowed.end(),
                        std::inserter(ids, ids.end()));
  return ids;
}

int Topology::node_of_cpu(int id) const {
  const auto cpu =
      std::find_if(cpus_.begin(), cpus_.end(), [id](const Cpu& other) { return other.id == id; });
  return cpu == cpus_.end() ? -1 : cpu->node;
}

int Topology::distance(int from_node, int to_node) const {
  const auto found = distances_.find({from_node, to_node});
  return found == distances_.end() ? 0 : found->second;
}

}  // namespace numabench
