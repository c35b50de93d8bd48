// Which CPUs and memory each worker of a run gets.
#pragma once

#include <string>
#include <vector>

#include "hosts/placement.h"
#include "hosts/topology.h"
#include "runner/config/experiment.h"

namespace numabench {

/// Of a role that has one process: "server", "background_writer". A background writer without a
/// placement of its own runs where the server does.
Placement process_placement(const PlacementConfig& config, const std::string& role);

/// Of a process that a server forks itself, "background_writer" or "loader": the CPUs can be its
/// own, the memory policy is the server's.
Placement forked_placement(const PlacementConfig& config, const std::string& role);

/// The CPUs in the order in which `spread`, which is not kNone, deals them.
std::vector<int> spread_order(Spread spread, const IdSet& cpus, const Topology& topology);

/// What the placement does beyond what it says, role by role.
std::vector<std::string> placement_notes(const PlacementConfig& config, const Topology& topology);

/// Deals the clients of a run to CPUs, role after role.
class ClientPlacement {
 public:
  ClientPlacement(const PlacementConfig& config, const Topology& topology);

  /// Of the next client of `role`. Spread: one CPU of those the role may use, counted over all
  /// roles, so that scanners do not pile up on the first clients.
  Placement next(const std::string& role);

 private:
  const PlacementConfig& config_;
  const Topology& topology_;
  int placed_ = 0;
};

}  // namespace numabench
