#include "hosts/topology_warnings.h"

#include <fmt/format.h>

#include "hosts/topology_reconciliation.h"

namespace numabench {
namespace {

// One warning for all of `ids`: a Grace host has dozens of empty nodes.
void warn(const std::string& noun, const IdSet& ids, const std::string& state,
          const std::string& consequence, std::vector<std::string>& warnings) {
  if (ids.empty()) return;
  warnings.push_back(fmt::format("{}{} {} {}: {}", noun, ids.size() == 1 ? "" : "s",
                                 format_id_list(ids), state, consequence));
}

void warn_of_nodes(const Topology& topology, std::vector<std::string>& warnings) {
  IdSet without_memory, without_cpus, empty, gpu, disallowed;
  for (const Node& node : topology.nodes()) {
    if (node.kind == kGpuMemory) {
      gpu.insert(node.id);
      continue;
    }
    const bool has_memory = node.memory_bytes > 0;
    if (!has_memory && !node.cpus.empty()) without_memory.insert(node.id);
    if (has_memory && node.cpus.empty()) without_cpus.insert(node.id);
    if (!has_memory && node.cpus.empty()) empty.insert(node.id);
    if (has_memory && !node.allowed) disallowed.insert(node.id);
  }
  warn("node", without_memory, "without memory", "no memory can be bound there", warnings);
  warn("node", without_cpus, "without CPUs", "no process can be bound there", warnings);
  warn("node", empty, "without CPUs and memory", "left out of every placement", warnings);
  warn("node", gpu, "memory of a GPU", "left out of every placement", warnings);
  warn("node", disallowed, "not allowed", "this process may not allocate there (cpuset)", warnings);
}

void warn_of_cpus(const Topology& topology, std::vector<std::string>& warnings) {
  IdSet homeless, disallowed;
  for (const Cpu& cpu : topology.cpus()) {
    if (cpu.node < 0) homeless.insert(cpu.id);
    if (!cpu.allowed) disallowed.insert(cpu.id);
  }
  warn("CPU", topology.offline_cpus(), "offline", "left out of every placement", warnings);
  warn("CPU", homeless, "in no node", "no placement by node reaches them", warnings);
  warn("CPU", disallowed, "not allowed", "this process may not run there (cpuset)", warnings);
}

}  // namespace

std::vector<std::string> topology_warnings(const Topology& topology) {
  std::vector<std::string> warnings;
  warn_of_nodes(topology, warnings);
  warn_of_cpus(topology, warnings);
  return warnings;
}

}  // namespace numabench
