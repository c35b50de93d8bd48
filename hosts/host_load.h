// How busy a host is with the work of others, and whose work that is.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace numabench {

/// CPU time since boot, in clock ticks.
struct CpuTimes {
  double busy = 0;  ///< of all CPUs: all but idle, waiting for I/O and stolen
  double stolen = 0;
  std::map<int, std::pair<std::string, double>> processes;  ///< by pid: the name and its time
};

/// Of /proc below `root`; all zero where it cannot be read.
CpuTimes read_cpu_times(const std::string& root = "");

struct HostLoad {
  double busy_cpus = 0;    ///< CPUs' worth of work, ours left out
  double stolen_cpus = 0;  ///< what the hypervisor gave to others
  std::vector<std::string>
      busiest;  ///< "clang 0.9": processes above a tenth of a CPU, at most three
};

/// What happened between two readings `seconds` apart, without the process `self`.
HostLoad load_between(const CpuTimes& before, const CpuTimes& after, double seconds, int self);

/// Watches this host for `span`.
HostLoad measure_host_load(std::chrono::milliseconds span);

}  // namespace numabench
