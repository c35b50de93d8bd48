#include "runner/engines/postgres/client_processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runner/engines/client_placement.h"
#include "runner/engines/postgres/client_values.h"
#include "runner/engines/postgres/run_directory.h"

namespace numabench {
namespace {

/// One process has all clients of a role: it may use what they would be dealt one by one.
Placement role_placement(ClientPlacement& placements, const SqlRole& role) {
  Placement all;
  for (int client = 0; client < role.clients; ++client) {
    const Placement placement = placements.next(role.name);
    all.memory = placement.memory;
    all.memory_nodes = placement.memory_nodes;
    all.cpus.insert(placement.cpus.begin(), placement.cpus.end());
  }
  return all;
}

}  // namespace

ClientProcesses::ClientProcesses(const PgbenchTarget& target, const CellSetup& setup,
                                 const std::vector<SqlRole>& roles, const PgbenchTelling& telling,
                                 const User& user, double seconds, std::uint64_t seed,
                                 const std::string& directory) {
  ClientPlacement placements(setup.placement, setup.host.topology);
  for (const SqlRole& role : roles) {
    const Placement placement = role_placement(placements, role);
    const std::string own = directory + "/" + role.name;
    make_directory_for(own, user);
    runs_.push_back(std::make_unique<PgbenchRun>(target, setup.experiment.pgbench, role, telling,
                                                 placement, user, seconds, seed, own));
    threads_ += static_cast<std::size_t>(runs_.back()->threads());
    processes_.push_back({role.name, runs_.back()->pid(), placement});
    const IdSet& allowed = setup.host.topology.allowed_cpus();
    const IdSet& cpus = placement.cpus.empty() ? allowed : placement.cpus;
    cpus_.insert(cpus.begin(), cpus.end());
  }
}

std::optional<std::uint64_t> ClientProcesses::transactions(Role::Kind kind) const {
  std::uint64_t sum = 0;
  for (const auto& run : runs_) {
    const std::optional<std::uint64_t> own = run->transactions();
    if (!own) return std::nullopt;
    if (run->role().kind == kind) sum += *own;
  }
  return sum;
}

std::optional<double> ClientProcesses::newest_tps(Role::Kind kind) const {
  double sum = 0;
  for (const auto& run : runs_) {
    if (run->role().kind != kind) continue;
    const std::optional<double> own = run->newest_tps();
    if (!own) return std::nullopt;
    sum += *own;
  }
  return sum;
}

bool ClientProcesses::have_finished() {
  return std::ranges::all_of(runs_, [](const auto& run) { return run->has_finished(); });
}

void ClientProcesses::check_alive() {
  for (const auto& run : runs_) run->check_alive();
}

void ClientProcesses::end() {
  // All are told before any is waited for: none is to have the server to itself.
  for (const auto& run : runs_) run->request_end();
  for (const auto& run : runs_) run->end();
}

std::vector<PgbenchRun::Result> ClientProcesses::results() {
  std::vector<PgbenchRun::Result> results;
  for (const auto& run : runs_) results.push_back(run->result());
  return results;
}

std::vector<ArtifactRecord> ClientProcesses::outputs() const {
  std::vector<ArtifactRecord> outputs;
  for (const auto& run : runs_) {
    outputs.push_back({fmt::format("pgbench-{}.txt", run->role().name), run->output()});
  }
  return outputs;
}

std::vector<SampleRecord> ClientProcesses::samples() const {
  std::vector<SampleRecord> samples;
  for (const auto& run : runs_) {
    std::ranges::move(role_samples(run->role(), run->log()), std::back_inserter(samples));
  }
  return samples;
}

std::string ClientProcesses::command_lines() const {
  std::string lines;
  for (const auto& run : runs_) {
    lines += fmt::format("{}: pgbench {}\n", run->role().name, fmt::join(run->arguments(), " "));
  }
  return lines;
}

}  // namespace numabench
