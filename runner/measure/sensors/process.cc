#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "hosts/files.h"
#include "runner/measure/cpu_times.h"
#include "runner/measure/readings.h"
#include "runner/measure/run_processes.h"
#include "runner/measure/sensors/sensors.h"

namespace numabench {
namespace {

constexpr int kAllCpus = -1;

struct Memory {
  double resident_bytes = 0;
  double private_bytes = 0;
};

double ticks_a_second() { return static_cast<double>(::sysconf(_SC_CLK_TCK)); }

/// Of the two kinds that processes of a run are of.
struct Side {
  double ticks = 0;  ///< that it used since the last look
  int processes = 0;
  double largest_resident_bytes = 0;
  double private_bytes = 0;
  std::optional<double> pss_bytes;
  IdSet cpus;  ///< that its processes may use
  bool any_cpu = false;
};

class ProcessSensor : public Sensor {
 public:
  explicit ProcessSensor(const MonitorTarget& target) : target_(target) {}

  std::vector<MetricValue> read(double seconds) override {
    const auto living = living_processes(target_.processes, target_.root);
    Side server;
    Side clients;
    int stopped = 0;
    for (const auto& [pid, process] : living) {
      add(pid, process, process.process.is_server() ? server : clients);
      stopped += process.stat.state == 'T' || process.stat.state == 't' ? 1 : 0;
    }
    std::vector<MetricValue> values{MetricValue::of("stopped_processes", stopped)};
    add_memory(server, clients, values);
    const double own_ticks = own_cpu_ticks();
    const bool begins = last_ticks_.empty() || seconds <= 0;
    last_ticks_.clear();
    for (const auto& [pid, process] : living) last_ticks_[pid] = process.stat.own_ticks;
    const std::optional<CpuTicks> host = host_ticks();
    if (!begins) {
      add_cpu("server_cpu_pct", server, seconds, values);
      add_cpu("client_cpu_pct", clients, seconds, values);
      add_other_load(host, server.ticks + clients.ticks + own_ticks, values);
    }
    last_host_ = host;
    return values;
  }

 private:
  void add(pid_t pid, const LivingProcess& process, Side& side) {
    const auto before = last_ticks_.find(pid);
    // One that is new has used all of its time since the last look.
    const std::uint64_t from = before == last_ticks_.end() ? 0 : before->second;
    side.ticks +=
        static_cast<double>(process.stat.own_ticks - std::min(from, process.stat.own_ticks));
    ++side.processes;
    const IdSet& cpus = process.process.cpus;
    side.any_cpu = side.any_cpu || cpus.empty();
    side.cpus.insert(cpus.begin(), cpus.end());
    const Memory memory = memory_of(pid);
    side.largest_resident_bytes = std::max(side.largest_resident_bytes, memory.resident_bytes);
    side.private_bytes += memory.private_bytes;
    if (target_.pss && process.process.is_server()) {
      if (const auto pss = pss_of(pid)) side.pss_bytes = side.pss_bytes.value_or(0) + *pss;
    }
  }

  /// "size resident shared …" in pages.
  Memory memory_of(pid_t pid) const {
    const FileText file = read_file_below(target_.root, fmt::format("/proc/{}/statm", pid));
    double size = 0, resident = 0, shared = 0;
    std::istringstream(file.text) >> size >> resident >> shared;
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    return {resident * page, (resident - shared) * page};
  }

  std::optional<double> pss_of(pid_t pid) const {
    const FileText file = read_file_below(target_.root, fmt::format("/proc/{}/smaps_rollup", pid));
    const auto numbers = named_numbers(file.text);
    const auto found = numbers.find("Pss");
    return found == numbers.end() ? std::nullopt : std::optional(1024 * found->second);
  }

  void add_memory(const Side& server, const Side& clients, std::vector<MetricValue>& values) const {
    if (server.processes > 0) {
      values.push_back(MetricValue::of("server_processes", server.processes));
      values.push_back(MetricValue::of("server_rss_bytes", server.largest_resident_bytes));
      values.push_back(MetricValue::of("server_private_bytes", server.private_bytes));
    }
    if (clients.processes > 0) {
      values.push_back(MetricValue::of("client_private_bytes", clients.private_bytes));
    }
    const char* why_no_pss = target_.pss ? "/proc/PID/smaps_rollup cannot be read"
                                         : "not asked for (monitors: {pss: true})";
    values.push_back(server.pss_bytes ? MetricValue::of("server_pss_bytes", *server.pss_bytes)
                                      : MetricValue::absent("server_pss_bytes", why_no_pss));
  }

  void add_cpu(const char* metric, const Side& side, double seconds,
               std::vector<MetricValue>& values) const {
    const IdSet& cpus = side.any_cpu ? target_.cpus : side.cpus;
    if (side.processes == 0 || cpus.empty()) return;
    values.push_back(MetricValue::of(metric, 100 * side.ticks / ticks_a_second() /
                                                 (seconds * static_cast<double>(cpus.size()))));
  }

  static double own_cpu_seconds() {
    timespec spent{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
  }
  double own_cpu_ticks() {
    return own_ticks_.grown_to(own_cpu_seconds() * ticks_a_second()).value_or(0);
  }

  /// Of the host since boot, all CPUs together; nothing where it cannot be read.
  std::optional<CpuTicks> host_ticks() const {
    const auto ticks = parse_cpu_ticks(read_file_below(target_.root, "/proc/stat").text);
    const auto found = ticks.find(kAllCpus);
    return found == ticks.end() ? std::nullopt : std::optional(found->second);
  }

  void add_other_load(const std::optional<CpuTicks>& host, double ours,
                      std::vector<MetricValue>& values) const {
    if (!host || !last_host_) {
      values.push_back(MetricValue::absent("other_cpu_pct", "/proc/stat cannot be read"));
      return;
    }
    const CpuTicks spent = *host - *last_host_;
    if (spent.all() <= 0) return;
    const double others = std::max(0.0, spent.busy() + spent.steal - ours);
    values.push_back(MetricValue::of("other_cpu_pct", 100 * others / spent.all()));
  }

  MonitorTarget target_;
  std::map<pid_t, std::uint64_t> last_ticks_;
  GrowingCounter own_ticks_;
  std::optional<CpuTicks> last_host_;
};

}  // namespace

std::unique_ptr<Sensor> make_process_sensor(const MonitorTarget& target) {
  return std::make_unique<ProcessSensor>(target);
}

}  // namespace numabench
