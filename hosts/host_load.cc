#include "hosts/host_load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "hosts/files.h"

namespace numabench {
namespace {

/// proc(5): "comm" may hold blanks and brackets, so that the fields are counted from its end.
std::pair<std::string, double> parse_process(const std::string& stat) {
  const auto open = stat.find('(');
  const auto close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::istringstream fields(stat.substr(close + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return {stat.substr(open + 1, close - open - 1), user + system};
}

/// What a process has used since `before`, which may have had its pid for another.
double used(const CpuTimes& before, int pid, const std::pair<std::string, double>& now) {
  const auto earlier = before.processes.find(pid);
  if (earlier == before.processes.end() || earlier->second.second > now.second) return now.second;
  return now.second - earlier->second.second;
}

}  // namespace

CpuTimes read_cpu_times(const std::string& root) {
  CpuTimes times;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0;
  std::istringstream total(read_text_file(root + "/proc/stat").value_or(""));
  std::string label;
  total >> label >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> times.stolen;
  times.busy = user + nice + system + irq + softirq;
  for (const int pid : numbered_entries(root + "/proc", "")) {
    const auto stat = read_text_file(fmt::format("{}/proc/{}/stat", root, pid));
    if (stat) times.processes[pid] = parse_process(*stat);
  }
  return times;
}

HostLoad load_between(const CpuTimes& before, const CpuTimes& after, double seconds, int self) {
  constexpr double kWorthNaming = 0.1;
  const double ticks = seconds * static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::vector<std::pair<double, std::string>> processes;
  double own = 0;
  for (const auto& [pid, now] : after.processes) {
    const double cpus = used(before, pid, now) / ticks;
    if (pid == self) own = cpus;
    if (pid != self && cpus > kWorthNaming) processes.emplace_back(cpus, now.first);
  }
  std::ranges::sort(processes, std::greater{});
  HostLoad load;
  load.busy_cpus = std::max(0.0, (after.busy - before.busy) / ticks - own);
  load.stolen_cpus = (after.stolen - before.stolen) / ticks;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, processes.size()); ++i) {
    load.busiest.push_back(fmt::format("{} {:.1f}", processes[i].second, processes[i].first));
  }
  return load;
}

HostLoad measure_host_load(std::chrono::milliseconds span) {
  const auto start = std::chrono::steady_clock::now();
  const CpuTimes before = read_cpu_times();
  std::this_thread::sleep_for(span);
  const CpuTimes after = read_cpu_times();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return load_between(before, after, elapsed.count(), ::getpid());
}

}  // namespace numabench
