// The processes of one run: forked under their placements, watched, read back and stopped together.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "hosts/process.h"
#include "runner/engines/embedded/run_control.h"
#include "runner/engines/placement_watch.h"
#include "runner/measure/role_process.h"

namespace numabench {

/// What a worker is and where it has to run.
struct WorkerSpec {
  std::string name;  ///< "client 3", for messages
  std::string role;  ///< "clients"
  Placement placement;
};

/// The destructor kills what still runs. `control` outlives the group.
class WorkerGroup {
 public:
  explicit WorkerGroup(RunControl& control) : control_(control) {}

  /// Forks a worker that calls `body` with its slot in the control block: the number of workers
  /// before it. What `body` throws ends the worker and is reported by check_alive().
  std::size_t fork(const WorkerSpec& spec, const std::function<void(std::size_t slot)>& body);

  /// Waits until the worker has set `ready`. Throws Error(kRun) when a worker dies meanwhile.
  void wait_until_ready(std::size_t slot);
  void wait_until_all_are_ready();
  /// Throws Error(kRun) naming the first worker that has ended before it was told to.
  void check_alive();

  /// Reads back where every worker is.
  void watch();
  std::vector<RoleProcess> processes() const;
  /// What watch() has seen.
  const PlacementWatch& placements() const { return watch_; }

  /// Waits for workers that have been told to stop. Throws Error(kRun) when one did not end well.
  void join();

 private:
  struct Member {
    WorkerSpec spec;
    Worker worker;
  };
  [[noreturn]] void report(const Member& member, std::size_t slot, const Worker::Exit& exit) const;

  RunControl& control_;
  std::vector<Member> members_;
  PlacementWatch watch_;
};

}  // namespace numabench
