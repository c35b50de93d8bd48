// The clients of a run: one pgbench process for each role of the workload.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hosts/user.h"
#include "runner/engines/engine.h"
#include "runner/engines/postgres/pgbench.h"
#include "workloads/sql_workload.h"

namespace numabench {

class ClientProcesses {
 public:
  /// Starts all of them, each under the placement of its role (spread: on the CPUs that its clients
  /// would be dealt) and telling as `telling` says. Scripts and logs lie in `directory`, which
  /// outlives this. A process that nobody ends ends itself after `seconds`.
  ClientProcesses(const PgbenchTarget& target, const CellSetup& setup,
                  const std::vector<SqlRole>& roles, const PgbenchTelling& telling,
                  const User& user, double seconds, std::uint64_t seed,
                  const std::string& directory);

  /// So far, of the roles of a kind, and in the newest second. nullopt where no progress is told.
  std::optional<std::uint64_t> transactions(Role::Kind kind) const;
  std::optional<double> newest_tps(Role::Kind kind) const;
  /// All have done what they had to.
  bool have_finished();
  /// Throws Error(kRun) when one has died, BrokenRule when one has lost a client.
  void check_alive();
  /// Ends those that still run and waits for their reports.
  void end();
  /// After end(); one for each role, in their order. Throws as check_alive() does.
  std::vector<PgbenchRun::Result> results();
  /// What each has printed so far, and its seconds, for a run that failed.
  std::vector<ArtifactRecord> outputs() const;
  std::vector<SampleRecord> samples() const;

  /// Of each process: for placement proofs.
  struct Process {
    std::string role;
    pid_t pid = 0;
    Placement placement;
  };
  const std::vector<Process>& processes() const { return processes_; }
  /// CPUs that they can keep busy at once: no more than they may use, nor than they have threads.
  std::size_t busiest() const { return std::min(cpus_.size(), threads_); }
  /// "clients: pgbench -n -c 24 …", a line a process.
  std::string command_lines() const;

 private:
  std::vector<std::unique_ptr<PgbenchRun>> runs_;
  std::vector<Process> processes_;
  IdSet cpus_;               ///< that any of them may use
  std::size_t threads_ = 0;  ///< of all of them
};

}  // namespace numabench
