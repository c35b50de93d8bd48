// The processes of a run as they are now: an engine's, with the descendants of those that have
// some.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hosts/process_stats.h"
#include "runner/measure/role_process.h"

namespace numabench {

struct LivingProcess {
  RoleProcess process;
  ProcessStat stat;
};

/// By pid. Reads /proc below `root`; a process that is gone is left out.
std::map<pid_t, LivingProcess> living_processes(const std::vector<RoleProcess>& processes,
                                                const std::string& root);

}  // namespace numabench
