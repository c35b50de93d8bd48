#include "runner/measure/cpu_times.h"

#include <optional>
#include <sstream>

#include "runner/measure/readings.h"

namespace numabench {
namespace {

/// "cpu" -> -1, "cpu17" -> 17, anything else nothing.
std::optional<int> cpu_of(const std::string& name) {
  if (name == "cpu") return -1;
  if (!name.starts_with("cpu")) return std::nullopt;
  const std::optional<double> number = number_of(name.substr(3));
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

}  // namespace

CpuTicks operator-(const CpuTicks& after, const CpuTicks& before) {
  return {
      after.user - before.user, after.system - before.system, after.interrupts - before.interrupts,
      after.idle - before.idle, after.iowait - before.iowait, after.steal - before.steal};
}

std::map<int, CpuTicks> parse_cpu_ticks(const std::string& proc_stat) {
  std::map<int, CpuTicks> ticks;
  std::istringstream lines(proc_stat);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    fields >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    const std::optional<int> cpu = cpu_of(name);
    if (fields && cpu) ticks[*cpu] = {user + nice, system, irq + softirq, idle, iowait, steal};
  }
  return ticks;
}

}  // namespace numabench
