#include "runner/measure/run_processes.h"

#include <algorithm>

#include "hosts/files.h"

namespace numabench {
namespace {

/// Adds whoever has a parent among those of `living` that stand for their descendants, too; parents
/// have been seen before their children only when pids have not wrapped, hence until nothing is
/// added.
void add_descendants(const std::string& root, std::map<pid_t, LivingProcess>& living) {
  std::map<pid_t, ProcessStat> others;
  for (const pid_t pid : numbered_entries(root + "/proc", "")) {
    if (living.contains(pid)) continue;
    if (const auto stat = read_process_stat(pid, root)) others.emplace(pid, *stat);
  }
  for (bool added = true; added;) {
    added = false;
    for (auto other = others.begin(); other != others.end();) {
      const auto parent = living.find(other->second.parent);
      if (parent == living.end() || !parent->second.process.with_descendants) {
        ++other;
        continue;
      }
      RoleProcess child = parent->second.process;
      child.pid = other->first;
      living.emplace(other->first, LivingProcess{child, other->second});
      other = others.erase(other);
      added = true;
    }
  }
}

}  // namespace

std::map<pid_t, LivingProcess> living_processes(const std::vector<RoleProcess>& processes,
                                                const std::string& root) {
  std::map<pid_t, LivingProcess> living;
  for (const RoleProcess& process : processes) {
    if (const auto stat = read_process_stat(process.pid, root)) {
      living.emplace(process.pid, LivingProcess{process, *stat});
    }
  }
  if (std::ranges::any_of(processes, &RoleProcess::with_descendants)) {
    add_descendants(root, living);
  }
  return living;
}

}  // namespace numabench
