// What the kernel tells of running processes: CPU time, program, children, memory by node.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hosts/id_set.h"

namespace numabench {

/// Of /proc/PID/stat, see proc(5).
struct ProcessStat {
  char state = '?';  ///< 'R' runs, 'S' sleeps, 'T' is stopped, 't' is traced, …
  pid_t parent = 0;
  std::uint64_t own_ticks = 0;   ///< user and system
  std::uint64_t dead_ticks = 0;  ///< the same of the children that it has waited for
};

/// nullopt when there is no such process below `root`.
std::optional<ProcessStat> read_process_stat(pid_t pid, const std::string& root = "");

/// The pids of `pid`'s children, ascending.
std::vector<pid_t> children_of(pid_t pid);

/// User and system seconds of `pid`, its living descendants, and the dead that they waited for. 0
/// for a process that is gone.
double cpu_seconds_of_tree(pid_t pid);

/// How often the kernel has moved the threads of `pid` from one CPU to another since they began
/// (se.nr_migrations of /proc/PID/sched). nullopt when the process is gone or the kernel does not
/// count (CONFIG_SCHED_DEBUG).
std::optional<std::int64_t> cpu_migrations(pid_t pid);

/// /proc/PID/exe; empty when the process is gone. A replaced file reads "/path (deleted)".
std::string program_of(pid_t pid);

/// One mapping of /proc/PID/numa_maps.
struct NumaMapping {
  std::uint64_t address = 0;
  std::string policy;  ///< "default", "bind:0", "interleave:0-1"
  std::string file;    ///< "/dev/zero", "/SYSV…", "/anon_hugepage", …; empty
  bool huge = false;   ///< of hugetlb pages
  std::uint64_t page_bytes = 4096;
  std::map<int, std::uint64_t> bytes_by_node;  ///< of the pages that this process has touched
};

/// The lines of a numa_maps file; what is not such a line is left out.
std::vector<NumaMapping> parse_numa_maps(const std::string& text);

/// The mappings of `pid`. nullopt when the kernel has no numa_maps (one built without NUMA), the
/// process is gone or may not be read.
std::optional<std::vector<NumaMapping>> numa_mappings(pid_t pid);

}  // namespace numabench
