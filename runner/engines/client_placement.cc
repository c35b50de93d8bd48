#include "runner/engines/client_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace numabench {
namespace {

/// Where a CPU stands among those to be dealt; counts start at 0.
struct Rank {
  int id = 0;
  int core = 0;
  int thread = 0;           ///< CPUs of its core before it
  int of_node = 0;          ///< CPUs of its node before it
  int of_package = 0;       ///< CPUs of its package before it
  int of_node_threads = 0;  ///< CPUs of its node before it that are as many-th in their core
};

std::vector<Rank> rank(const IdSet& ids, const Topology& topology) {
  std::map<int, int> of_core;
  std::map<int, int> of_node;
  std::map<int, int> of_package;
  std::map<std::pair<int, int>, int> of_node_threads;
  std::vector<Rank> ranks;
  for (const Cpu& cpu : topology.cpus()) {
    if (!ids.contains(cpu.id)) continue;
    Rank rank{.id = cpu.id, .core = cpu.core, .thread = of_core[cpu.core]++};
    rank.of_node = of_node[cpu.node]++;
    rank.of_package = of_package[cpu.package]++;
    rank.of_node_threads = of_node_threads[{cpu.node, rank.thread}]++;
    ranks.push_back(rank);
  }
  return ranks;
}

/// What is dealt first has the lesser key.
std::array<int, 3> sort_key(Spread spread, const Rank& rank) {
  switch (spread) {
    case Spread::kCores:
      return {rank.thread, rank.core, rank.id};
    case Spread::kPackages:
      return {rank.of_package, rank.id, 0};
    case Spread::kSmtLast:
      return {rank.thread, rank.of_node_threads, rank.id};
    case Spread::kNodes:
    case Spread::kNone:
      break;
  }
  return {rank.of_node, rank.id, 0};
}

}  // namespace

Placement process_placement(const PlacementConfig& config, const std::string& role) {
  if (const auto own = config.roles.find(role); own != config.roles.end()) return own->second;
  const auto server = config.roles.find("server");
  return server == config.roles.end() ? Placement{} : server->second;
}

Placement forked_placement(const PlacementConfig& config, const std::string& role) {
  Placement placement = process_placement(config, "server");
  placement.touch = false;
  const auto own = config.roles.find(role);
  if (own != config.roles.end() && !own->second.cpus.empty()) placement.cpus = own->second.cpus;
  return placement;
}

std::vector<int> spread_order(Spread spread, const IdSet& cpus, const Topology& topology) {
  std::vector<Rank> ranks = rank(cpus, topology);
  std::ranges::sort(ranks, {}, [&](const Rank& rank) { return sort_key(spread, rank); });
  std::vector<int> order;
  for (const Rank& rank : ranks) order.push_back(rank.id);
  return order;
}

std::vector<std::string> placement_notes(const PlacementConfig& config, const Topology& topology) {
  std::vector<std::string> notes;
  for (const auto& [role, placement] : config.roles) {
    for (const std::string& note : placement_notes(placement, topology)) {
      notes.push_back(fmt::format("placement '{}', role {}: {}", config.name, role, note));
    }
  }
  return notes;
}

ClientPlacement::ClientPlacement(const PlacementConfig& config, const Topology& topology)
    : config_(config), topology_(topology) {}

Placement ClientPlacement::next(const std::string& role) {
  const auto found = config_.roles.find(role);
  Placement placement = found == config_.roles.end() ? Placement{} : found->second;
  const auto spread = config_.spreads.find(role);
  if (spread != config_.spreads.end() && spread->second != Spread::kNone) {
    const IdSet cpus = placement.cpus.empty() ? topology_.allowed_cpus() : placement.cpus;
    const std::vector<int> order = spread_order(spread->second, cpus, topology_);
    placement.cpus = {order[static_cast<std::size_t>(placed_) % order.size()]};
  }
  ++placed_;
  return placement;
}

}  // namespace numabench
