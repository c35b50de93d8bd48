#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "hosts/topology.h"
#include "hosts/units.h"

namespace numabench {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// A matrix of more nodes does not fit on a screen.
constexpr std::size_t kMostMatrixNodes = 16;

std::string bytes_text(std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

std::string list_or_none(const IdSet& ids) { return ids.empty() ? "none" : format_id_list(ids); }

// "1 node", "2 nodes".
std::string counted(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "2 L3 of 32 MiB"
std::string cache_text(const Cache& cache) {
  const std::string name = cache.memory_side ? "memory-side" : fmt::format("L{}", cache.level);
  return fmt::format("{} {} of {}", cache.count, name, bytes_text(cache.bytes));
}

// "12", "8 Cluster"
std::string groups_text(const Topology& topology) {
  std::map<std::string, int> counts;
  for (const Group& group : topology.groups()) ++counts[group.kind];
  std::vector<std::string> texts;
  for (const auto& [kind, count] : counts) {
    texts.push_back(kind.empty() ? std::to_string(count) : fmt::format("{} {}", count, kind));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string summary(const Topology& topology) {
  std::vector<std::string> counts{
      counted(static_cast<std::size_t>(topology.packages()), "package")};
  if (topology.dies() > 0) {
    counts.push_back(counted(static_cast<std::size_t>(topology.dies()), "die"));
  }
  counts.push_back(counted(static_cast<std::size_t>(topology.cores()), "core"));
  counts.push_back(counted(topology.cpus().size(), "CPU"));
  counts.push_back(counted(topology.nodes().size(), "node"));
  counts.push_back(bytes_text(topology.memory_bytes()));
  std::string text = fmt::format("{}: {}\n", topology.source(), fmt::join(counts, ", "));
  if (!topology.cpu_model().empty()) text += fmt::format("cpu model: {}\n", topology.cpu_model());
  std::vector<std::string> caches;
  for (const Cache& cache : topology.caches()) caches.push_back(cache_text(cache));
  if (!caches.empty()) text += fmt::format("caches: {}\n", fmt::join(caches, ", "));
  if (!topology.groups().empty()) text += fmt::format("groups: {}\n", groups_text(topology));
  if (!topology.is_this_host()) text += "not this host: for looking and planning only\n";
  return text;
}

// The packages or dies of a node's CPUs; "-" for a node without.
std::string parts_of(const Node& node, const Topology& topology, int Cpu::*part) {
  IdSet parts;
  for (const Cpu& cpu : topology.cpus()) {
    if (node.cpus.contains(cpu.id)) parts.insert(cpu.*part);
  }
  return parts.empty() ? "-" : format_id_list(parts);
}

// The smallest group with the node and another, which are the ones that say who is near whom.
std::string group_of(const Node& node, const Topology& topology) {
  const Group* smallest = nullptr;
  std::size_t index = 0, smallest_index = 0;
  for (const Group& group : topology.groups()) {
    const bool holds = group.nodes.size() > 1 && group.nodes.contains(node.id);
    if (holds && (smallest == nullptr || group.nodes.size() < smallest->nodes.size())) {
      smallest = &group;
      smallest_index = index;
    }
    ++index;
  }
  return smallest == nullptr ? "-" : std::to_string(smallest_index);
}

std::string cpus_text(const Node& node) {
  if (!node.cpus.empty()) return format_id_list(node.cpus);
  if (node.near_cpus.empty()) return "none";
  return fmt::format("none, near {}", format_id_list(node.near_cpus));
}

// Pads every column but the last to its widest cell, and leaves out those that say nothing: all
// their cells below the heading are "-".
std::string aligned(const Rows& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  std::vector<bool> shown(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
      if (&row != &rows.front() && row[column] != "-") shown[column] = true;
    }
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t column = 0; column + 1 < row.size(); ++column) {
      if (shown[column]) text += fmt::format("{:<{}}  ", row[column], widths[column]);
    }
    text += row.back() + "\n";
  }
  return text;
}

std::string node_table(const Topology& topology) {
  Rows rows{{"node", "package", "die", "group", "kind", "memory", "allowed", "cpus"}};
  for (const Node& node : topology.nodes()) {
    rows.push_back({std::to_string(node.id), parts_of(node, topology, &Cpu::package),
                    topology.dies() == 0 ? "-" : parts_of(node, topology, &Cpu::die),
                    group_of(node, topology), node.kind.empty() ? "-" : node.kind,
                    node.memory_bytes == 0 ? "none" : bytes_text(node.memory_bytes),
                    node.allowed ? "yes" : "no", cpus_text(node)});
  }
  return "\n" + aligned(rows);
}

bool has_distances(const Topology& topology) {
  return std::any_of(topology.nodes().begin(), topology.nodes().end(),
                     [&](const Node& node) { return topology.distance(node.id, node.id) != 0; });
}

std::string distance_matrix(const Topology& topology) {
  std::string text = "\ndistance";
  for (const Node& to : topology.nodes()) text += fmt::format("{:>5}", to.id);
  text += "\n";
  for (const Node& from : topology.nodes()) {
    text += fmt::format("{:>8}", from.id);
    for (const Node& to : topology.nodes()) {
      const int distance = topology.distance(from.id, to.id);
      text += fmt::format("{:>5}", distance == 0 ? "-" : std::to_string(distance));
    }
    text += "\n";
  }
  return text;
}

// A column for each distance that occurs, in it the nodes that are so far away.
std::string nodes_by_distance(const Topology& topology) {
  std::set<int> distances;
  for (const Node& from : topology.nodes()) {
    for (const Node& to : topology.nodes()) distances.insert(topology.distance(from.id, to.id));
  }
  Rows rows{{"from"}};
  for (const int distance : distances) {
    rows.front().push_back(distance == 0 ? "unknown" : fmt::format("at {}", distance));
  }
  for (const Node& from : topology.nodes()) {
    rows.push_back({std::to_string(from.id)});
    for (const int distance : distances) {
      IdSet nodes;
      for (const Node& to : topology.nodes()) {
        if (topology.distance(from.id, to.id) == distance) nodes.insert(to.id);
      }
      rows.back().push_back(list_or_none(nodes));
    }
  }
  return "\nnodes by distance\n" + aligned(rows);
}

std::string distances_text(const Topology& topology) {
  if (topology.nodes().size() < 2) return "";
  if (!has_distances(topology)) return "\ndistances: the firmware gives none\n";
  if (topology.nodes().size() > kMostMatrixNodes) return nodes_by_distance(topology);
  return distance_matrix(topology);
}

std::string unit_of(const std::string& attribute) {
  return attribute.find("Bandwidth") != std::string::npos ? "MiB/s" : "ns";
}

using AttributeValues = std::map<IdSet, std::map<int, std::uint64_t>>;

// A row for each set of CPUs from which the platform gives values.
std::string attribute_table(const Topology& topology, const std::string& name,
                            const AttributeValues& values) {
  Rows rows{{fmt::format("{}, {}", name, unit_of(name))}};
  for (const Node& node : topology.nodes()) rows[0].push_back(fmt::format("to {}", node.id));
  for (const auto& [cpus, by_node] : values) {
    rows.push_back({fmt::format("from CPUs {}", format_id_list(cpus))});
    for (const Node& node : topology.nodes()) {
      const auto value = by_node.find(node.id);
      rows.back().push_back(value == by_node.end() ? "-" : std::to_string(value->second));
    }
  }
  return "\n" + aligned(rows);
}

std::string attributes_text(const Topology& topology) {
  std::map<std::string, AttributeValues> attributes;
  for (const MemoryAttribute& attribute : topology.memory_attributes()) {
    attributes[attribute.name][attribute.cpus][attribute.node] = attribute.value;
  }
  std::string text;
  for (const auto& [name, values] : attributes) {
    // Most platforms say the same of reads and writes.
    const bool is_general = name == "Bandwidth" || name == "Latency";
    const std::string general =
        name.find("Bandwidth") != std::string::npos ? "Bandwidth" : "Latency";
    const auto same = attributes.find(general);
    if (!is_general && same != attributes.end() && same->second == values) continue;
    text += attribute_table(topology, name, values);
  }
  return text;
}

}  // namespace

std::string format_topology(const Topology& topology) {
  std::string text = summary(topology) + node_table(topology) + distances_text(topology) +
                     attributes_text(topology);
  if (!topology.warnings().empty()) text += "\n";
  for (const std::string& warning : topology.warnings()) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace numabench
