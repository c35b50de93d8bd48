// The lines of /proc/stat about CPUs.
#pragma once

#include <map>
#include <string>

namespace numabench {

/// Since boot, in clock ticks; guests' time is a part of `user`, as the kernel has it.
struct CpuTicks {
  double user = 0;  ///< nice included
  double system = 0;
  double interrupts = 0;  ///< hard and soft
  double idle = 0;
  double iowait = 0;
  double steal = 0;

  double busy() const { return user + system + interrupts; }
  double all() const { return busy() + idle + iowait + steal; }
};
CpuTicks operator-(const CpuTicks& after, const CpuTicks& before);

/// By CPU; those of all CPUs together under -1. What is no line of a CPU is left out.
std::map<int, CpuTicks> parse_cpu_ticks(const std::string& proc_stat);

}  // namespace numabench
