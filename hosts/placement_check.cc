#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iterator>
#include <map>

#include "hosts/error.h"
#include "hosts/memory_policy.h"
#include "hosts/placement.h"
#include "hosts/topology_reconciliation.h"

namespace numabench {
namespace {

std::string list_or_none(const IdSet& ids) { return ids.empty() ? "none" : format_id_list(ids); }

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy) {
  throw Error(ErrorKind::kPreflight, problem, remedy);
}

const Node* find_node(const Topology& topology, int id) {
  const auto& nodes = topology.nodes();
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [id](const Node& node) { return node.id == id; });
  return found == nodes.end() ? nullptr : &*found;
}

// The nearest allowed node with memory; with equal or unknown distances the lowest id; -1 if there
// is none.
int nearest_memory(const Topology& topology, int from) {
  int nearest = -1;
  for (const int node : topology.allowed_nodes()) {
    if (nearest < 0 || topology.distance(from, node) < topology.distance(from, nearest)) {
      nearest = node;
    }
  }
  return nearest;
}

// A firmware whose tables contradict each other has no nodes to place by. Of an experiment only the
// placements that go by nodes are refused (runner/config/placement_section.h).
void check_nodes_can_be_trusted(const Topology& topology) {
  const std::string refusal = refusal_of_nodes(topology);
  if (refusal.empty()) return;
  refuse(refusal, "place by CPUs (physcpubind), or leave this placement out");
}

void check_cpu(int id, const Topology& topology) {
  const IdSet allowed = topology.allowed_cpus();
  if (allowed.contains(id)) return;
  const auto& known = topology.cpus();
  const bool exists =
      std::any_of(known.begin(), known.end(), [id](const Cpu& cpu) { return cpu.id == id; });
  std::string problem = fmt::format("there is no CPU {}", id);
  if (exists) problem = fmt::format("CPU {} is not allowed for this process (cpuset)", id);
  if (topology.offline_cpus().contains(id)) problem = fmt::format("CPU {} is offline", id);
  refuse(problem, fmt::format("allowed CPUs: {}", list_or_none(allowed)));
}

void check_cpu_node(int id, const Topology& topology) {
  if (!topology.cpus_of_node(id).empty()) return;
  const Node* node = find_node(topology, id);
  std::string problem = fmt::format("no CPU of node {} is allowed for this process", id);
  if (node == nullptr) problem = fmt::format("there is no node {}", id);
  if (node != nullptr && node->cpus.empty()) problem = fmt::format("node {} has no CPUs", id);
  refuse(problem, fmt::format("nodes with CPUs: {}", list_or_none(topology.nodes_with_cpus())));
}

void check_memory_node(int id, const Topology& topology) {
  const IdSet allowed = topology.allowed_nodes();
  if (allowed.contains(id)) return;
  const std::string remedy = fmt::format("allowed nodes with memory: {}", list_or_none(allowed));
  const Node* node = find_node(topology, id);
  if (node == nullptr) refuse(fmt::format("there is no node {}", id), remedy);
  if (node->kind == kGpuMemory) refuse(fmt::format("node {} is the memory of a GPU", id), remedy);
  if (node->memory_bytes > 0) {
    refuse(fmt::format("node {} is not allowed for this process (cpuset)", id), remedy);
  }
  const int nearest = nearest_memory(topology, id);
  refuse(fmt::format("node {} has no memory", id),
         nearest < 0 ? remedy : fmt::format("{}, the nearest is {}", remedy, nearest));
}

void check_node_count(const Placement& placement) {
  const std::size_t count = placement.memory_nodes.size();
  switch (placement.memory) {
    case MemoryPolicy::kBind:
    case MemoryPolicy::kPreferredMany:
    case MemoryPolicy::kInterleave:
    case MemoryPolicy::kWeightedInterleave:
      if (count == 0) refuse("a memory policy without nodes", "name the nodes");
      break;
    case MemoryPolicy::kPreferred:
      if (count != 1) refuse("the preferred policy takes exactly one node", "name one node");
      break;
    case MemoryPolicy::kLocal:
    case MemoryPolicy::kDefault:
      if (count != 0) refuse("this memory policy takes no nodes", "leave the nodes out");
  }
  if (placement.balancing && placement.memory != MemoryPolicy::kBind) {
    refuse("numa balancing within a policy is of bound memory only", "use it with membind");
  }
}

// Sets the policy and puts back the one that this thread has had. Containers let NUMA look
// available and then forbid the calls; better to hear it now than from the first worker.
void try_policy(const Placement& placement) {
  const ThreadPolicy before = get_thread_policy(ErrorKind::kPreflight);
  if (!set_thread_policy(thread_policy(placement))) {
    throw_policy_error(ErrorKind::kPreflight, placement, errno);
  }
  if (!set_thread_policy(before)) throw_numa_error(ErrorKind::kInternal, "set_mempolicy", errno);
}

// What + counts, by their places.
IdSet at_places(const IdSet& places, const IdSet& usable, const std::string& noun) {
  const std::vector<int> ids(usable.begin(), usable.end());
  IdSet chosen;
  for (const int place : places) {
    if (static_cast<std::size_t>(place) >= ids.size()) {
      refuse(
          fmt::format("there is no {} +{}", noun, place),
          fmt::format("of the {} allowed ({}) + counts from 0", ids.size(), list_or_none(usable)));
    }
    chosen.insert(ids[static_cast<std::size_t>(place)]);
  }
  return chosen;
}

IdSet resolve(const IdExpression& expression, const IdSet& usable, const std::string& noun,
              const std::function<void(int)>& check_id) {
  if (expression.all) {
    if (usable.empty()) refuse(fmt::format("this process may use no {}", noun), "");
    return usable;
  }
  IdSet named = expression.ids;
  if (expression.relative) named = at_places(named, usable, noun);
  for (const int id : named) check_id(id);
  if (!expression.inverted) return named;
  IdSet others;
  std::set_difference(usable.begin(), usable.end(), named.begin(), named.end(),
                      std::inserter(others, others.end()));
  if (others.empty()) {
    refuse(fmt::format("! leaves no {}", noun), fmt::format("allowed: {}", list_or_none(usable)));
  }
  return others;
}

// The bound CPUs on nodes without memory, by node.
std::map<int, IdSet> cpus_without_memory(const IdSet& cpus, const Topology& topology) {
  std::map<int, IdSet> found;
  const IdSet with_memory = topology.allowed_nodes();
  for (const int cpu : cpus) {
    const int node = topology.node_of_cpu(cpu);
    if (node >= 0 && !with_memory.contains(node)) found[node].insert(cpu);
  }
  return found;
}

IdSet nodes_without_memory(const Topology& topology) {
  IdSet ids;
  for (const Node& node : topology.nodes()) {
    if (node.memory_bytes == 0) ids.insert(node.id);
  }
  return ids;
}

}  // namespace

std::string refusal_of_nodes(const Topology& topology) {
  if (topology.numa_defect().empty()) return "";
  return "no placement by nodes can be trusted here: " + topology.numa_defect();
}

void check(const Placement& placement, const Topology& topology) {
  for (const int cpu : placement.cpus) check_cpu(cpu, topology);
  check_node_count(placement);
  if (!placement.memory_nodes.empty()) check_nodes_can_be_trusted(topology);
  for (const int node : placement.memory_nodes) check_memory_node(node, topology);
  if (placement.memory != MemoryPolicy::kDefault && topology.is_this_host()) try_policy(placement);
}

IdSet resolve_cpus(const IdExpression& expression, const Topology& topology) {
  return resolve(expression, topology.allowed_cpus(), "CPU",
                 [&](int id) { check_cpu(id, topology); });
}

IdSet resolve_cpu_nodes(const IdExpression& expression, const Topology& topology) {
  check_nodes_can_be_trusted(topology);
  return resolve(expression, topology.nodes_with_cpus(), "node with CPUs",
                 [&](int id) { check_cpu_node(id, topology); });
}

IdSet resolve_memory_nodes(const IdExpression& expression, const Topology& topology) {
  check_nodes_can_be_trusted(topology);
  return resolve(expression, topology.allowed_nodes(), "node with memory",
                 [&](int id) { check_memory_node(id, topology); });
}

IdSet cpus_of_nodes(const IdSet& nodes, const Topology& topology) {
  IdSet cpus;
  for (const int id : nodes) {
    check_cpu_node(id, topology);
    cpus.merge(topology.cpus_of_node(id));
  }
  return cpus;
}

std::vector<std::string> placement_notes(const Placement& placement, const Topology& topology) {
  std::vector<std::string> notes;
  const bool by_distance =
      placement.memory == MemoryPolicy::kDefault || placement.memory == MemoryPolicy::kLocal;
  if (by_distance) {
    for (const auto& [node, cpus] : cpus_without_memory(placement.cpus, topology)) {
      notes.push_back(fmt::format(
          "node {} has no memory: that of CPUs {} comes from node {}, the nearest with some", node,
          format_id_list(cpus), nearest_memory(topology, node)));
    }
  }
  const IdSet empty = nodes_without_memory(topology);
  const bool interleaves = placement.memory == MemoryPolicy::kInterleave ||
                           placement.memory == MemoryPolicy::kWeightedInterleave;
  if (interleaves && !empty.empty() && placement.memory_nodes == topology.allowed_nodes()) {
    notes.push_back(fmt::format("{} leaves out node{} {}, without memory",
                                kernel_policy_text(placement), empty.size() == 1 ? "" : "s",
                                format_id_list(empty)));
  }
  return notes;
}

}  // namespace numabench
