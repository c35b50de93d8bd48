#include "runner/host_sheet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "hosts/error.h"
#include "reports/host_fitness.h"

namespace numabench {
namespace {

/// The nodes that the pool of a placement may be on: those its memory policy names, else those of
/// the server's CPUs, whose processes touch it first, else all.
IdSet pool_nodes(const PlacementConfig& placement, const Topology& topology) {
  const auto role = placement.roles.find("server");
  if (role != placement.roles.end() && !role->second.memory_nodes.empty()) {
    return role->second.memory_nodes;
  }
  IdSet nodes;
  if (role != placement.roles.end()) {
    for (const int cpu : role->second.cpus) nodes.insert(topology.node_of_cpu(cpu));
  }
  nodes.erase(-1);
  return nodes.empty() ? topology.allowed_nodes() : nodes;
}

/// A server keeps descriptors, the mapping and the checkpointer's array beside its buffers, under
/// 250 bytes for each 8 KiB, and a fixed part for its processes and the WAL.
std::uint64_t shared_memory_bytes(const Experiment& experiment, std::uint64_t pool_bytes) {
  constexpr std::uint64_t kFixed = 64 << 20;
  if (experiment.engine == "embedded") return pool_bytes;
  return pool_bytes + pool_bytes / 32 + kFixed;
}

HostNeeds::HugePages huge_pages_of(SharedRegion::HugePages asked) {
  switch (asked) {
    case SharedRegion::HugePages::kOff:
      return HostNeeds::HugePages::kNone;
    case SharedRegion::HugePages::kTry:
      return HostNeeds::HugePages::kWanted;
    case SharedRegion::HugePages::kOn:
      break;
  }
  return HostNeeds::HugePages::kRequired;
}

void add_cell(HostNeeds& needs, const Experiment& experiment, const Topology& topology,
              const FactorSet& cell) {
  needs.clients = std::max(needs.clients, cell.clients);
  const IdSet nodes = pool_nodes(experiment.placement(cell.placement), topology);
  if (nodes.empty()) return;
  const std::uint64_t share = shared_memory_bytes(experiment, cell.pool_bytes) / nodes.size() + 1;
  for (const int node : nodes) {
    std::uint64_t& bytes = needs.pool_bytes_by_node[node];
    bytes = std::max(bytes, share);
  }
}

}  // namespace

HostNeeds needs_of(const Experiment& experiment, const Host& host, const Plan& plan) {
  HostNeeds needs;
  needs.huge_pages = huge_pages_of(experiment.huge_pages);
  needs.memory_bytes = plan.peak_memory_bytes;
  needs.disk_bytes = plan.peak_disk_bytes;
  needs.data_directory = experiment.data_directory;
  for (const PlannedCell& cell : plan.cells) {
    add_cell(needs, experiment, host.topology, cell.factors);
    if (needs.data_directory.empty()) needs.data_directory = cell.estimate.disk_path;
  }
  for (const Arm& arm : experiment.arms) {
    if (arm.source.kind != ArmSource::Kind::kBindir) continue;
    needs.server_directories.push_back(arm.source.location);
  }
  for (const auto& [key, value] : experiment.host_settings) {
    std::string name = key;
    std::ranges::replace(name, '_', ' ');
    needs.settings[name] = value;
  }
  return needs;
}

std::vector<HostCheck> examine_host_for(const Experiment& experiment, const Host& host,
                                        const Plan& plan) {
  if (experiment.host_checks == HostChecks::kOff) return {};
  return examine_host(view_this_host(host.snapshot), needs_of(experiment, host, plan));
}

void require_fit_host(const Experiment& experiment, const std::vector<HostCheck>& sheet,
                      bool force) {
  std::vector<HostCheck> red;
  std::ranges::copy_if(sheet, std::back_inserter(red),
                       [](const HostCheck& check) { return check.rating == Rating::kRed; });
  if (red.empty() || force || experiment.host_checks != HostChecks::kEnforce) return;
  fmt::print(stderr, "{}", format_sheet(red, true));
  throw Error(
      ErrorKind::kPreflight,
      fmt::format("this host is not fit for experiment '{}': {}", experiment.name,
                  fmt::join(describe_checks(red, Rating::kRed), ", ")),
      "numabench doctor CONFIG --apply sets what can be set; --force runs all the same, and "
      "every table will say so");
}

HostRecord to_record(const Host& host, const std::vector<HostCheck>& sheet) {
  return {host.snapshot.hostname, to_json(host.snapshot, sheet), host.topology.xml()};
}

std::string new_red_lines(const HostRecord& begun_on, const std::vector<HostCheck>& sheet) {
  const HostFitness before = read_host_fitness(begun_on);
  std::vector<std::string> lines;
  for (const HostCheck& check : sheet) {
    if (check.rating != Rating::kRed) continue;
    const bool known = std::ranges::any_of(
        before.red, [&](const std::string& line) { return line.starts_with(check.name + ":"); });
    if (!known) lines.push_back(describe_checks({check}, Rating::kRed).front());
  }
  if (lines.empty()) return "";
  return fmt::format("resumed on a host that is not fit to publish: {}", fmt::join(lines, ", "));
}

void add_force_option(CLI::App& command, bool& force) {
  command.add_flag("--force", force,
                   "Run although the host is not fit (host_checks: enforce); every table says so");
}

}  // namespace numabench
