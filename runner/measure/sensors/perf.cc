#include "runner/measure/sensors/perf.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "runner/measure/readings.h"
#include "runner/measure/run_processes.h"
#include "runner/measure/sensors/cpu_events.h"
#include "runner/measure/sensors/sensors.h"

namespace numabench {
namespace {

constexpr std::uint64_t cache_event(std::uint64_t cache, std::uint64_t result) {
  return cache | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (result << 16);
}

struct PerfEvent {
  const char* metric;
  std::uint32_t type;
  std::uint64_t config;
};

constexpr PerfEvent kEvents[] = {
    {"perf_cycles_per_s", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"perf_instructions_per_s", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"perf_llc_loads_per_s", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    {"perf_llc_misses_per_s", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {"perf_node_loads_per_s", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_NODE, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    {"perf_node_misses_per_s", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_NODE, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {"perf_page_faults_per_s", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"perf_migrations_per_s", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

perf_event_attr attributes_of(const PerfEvent& event) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.exclude_hv = 1;
  return attributes;
}

FileDescriptor open_in_kernel(const perf_event_attr& event, pid_t pid) {
  constexpr int kAnyCpu = -1;
  constexpr int kNoGroup = -1;
  return FileDescriptor(static_cast<int>(
      ::syscall(SYS_perf_event_open, &event, pid, kAnyCpu, kNoGroup, PERF_FLAG_FD_CLOEXEC)));
}

/// What one counter has counted, scaled up for the time in which others had its register, as
/// perf_event_open(2) says; nullopt when it never ran.
std::optional<double> count_of(const FileDescriptor& counter) {
  struct {
    std::uint64_t value, enabled, running;
  } read{};
  if (::read(counter.get(), &read, sizeof(read)) != sizeof(read)) return std::nullopt;
  if (read.running == 0) return read.enabled == 0 ? std::optional(0.0) : std::nullopt;
  return static_cast<double>(read.value) * static_cast<double>(read.enabled) /
         static_cast<double>(read.running);
}

/// One event over all of the server's processes.
class EventCounters {
 public:
  explicit EventCounters(const PerfEvent& event) : event_(event) {}

  void open(pid_t pid, const PerfOpener& opener) {
    if (counters_.contains(pid)) return;
    FileDescriptor counter = opener(attributes_of(event_), pid);
    if (!counter.is_open()) {
      reason_ = fmt::format("perf_event_open: {}{}", std::strerror(errno),
                            errno == ENOENT ? " (this CPU or virtual machine has no such counter)"
                            : errno == EACCES || errno == EPERM
                                ? " (needs CAP_PERFMON or kernel.perf_event_paranoid below 1)"
                                : "");
      return;
    }
    counters_.emplace(pid, Counter{std::move(counter), {}});
  }

  /// Since the last call, of all processes; that of a new one counts from its opening. nullopt when
  /// none can be read.
  std::optional<double> grown() {
    std::optional<double> sum;
    for (auto& [pid, counter] : counters_) {
      const std::optional<double> now = count_of(counter.descriptor);
      if (!now) continue;
      const double before = counter.last.value_or(0);
      if (*now >= before) sum = sum.value_or(0) + *now - before;
      counter.last = *now;
    }
    return sum;
  }

  const char* metric() const { return event_.metric; }
  const std::string& reason() const { return reason_; }

 private:
  struct Counter {
    FileDescriptor descriptor;
    std::optional<double> last;
  };

  PerfEvent event_;
  std::map<pid_t, Counter> counters_;
  std::string reason_ = "the counter never ran";
};

class PerfSensor : public Sensor {
 public:
  PerfSensor(const MonitorTarget& target, PerfOpener open)
      : target_(target), open_(std::move(open)) {
    if (!target_.perf) return;
    for (const PerfEvent& event : kEvents) events_.emplace_back(event);
    add_cpu_events();
  }

  std::vector<MetricValue> read(double seconds) override {
    if (!target_.perf) return all_absent("not asked for (monitors: {perf: true})");
    for (const auto& [pid, process] : living_processes(target_.processes, target_.root)) {
      if (target_.has_server && !process.process.is_server()) continue;
      for (EventCounters& event : events_) event.open(pid, open_);
    }
    std::vector<MetricValue> values;
    for (EventCounters& event : events_) {
      const std::optional<double> grown = event.grown();
      if (!grown) values.push_back(MetricValue::absent(event.metric(), event.reason()));
      if (grown && seconds > 0) values.push_back(MetricValue::of(event.metric(), *grown / seconds));
    }
    std::ranges::copy(unknown_, std::back_inserter(values));
    add_ipc(values);
    return values;
  }

 private:
  void add_cpu_events() {
    const FileText cpuinfo = read_file_below(target_.root, "/proc/cpuinfo");
    for (const CpuEvent& event : cpu_events(parse_cpu_model(cpuinfo.text))) {
      if (event.config) {
        events_.emplace_back(PerfEvent{event.metric, PERF_TYPE_RAW, *event.config});
      } else {
        unknown_.push_back(MetricValue::absent(event.metric, event.reason));
      }
    }
  }

  static std::vector<MetricValue> all_absent(const std::string& reason) {
    std::vector<MetricValue> values{MetricValue::absent("perf_ipc", reason)};
    for (const PerfEvent& event : kEvents) {
      values.push_back(MetricValue::absent(event.metric, reason));
    }
    for (const char* metric : kCpuEventMetrics) {
      values.push_back(MetricValue::absent(metric, reason));
    }
    return values;
  }

  static void add_ipc(std::vector<MetricValue>& values) {
    const MetricValue* cycles = find_value(values, "perf_cycles_per_s");
    const MetricValue* instructions = find_value(values, "perf_instructions_per_s");
    if (cycles == nullptr || instructions == nullptr) return;
    const double ran = cycles->value.value_or(0);
    if (ran > 0 && instructions->value) {
      values.push_back(MetricValue::of("perf_ipc", *instructions->value / ran));
    } else {
      values.push_back(MetricValue::absent(
          "perf_ipc", cycles->value ? "the server did not run" : std::string(cycles->reason)));
    }
  }

  MonitorTarget target_;
  PerfOpener open_;
  std::vector<EventCounters> events_;
  std::vector<MetricValue> unknown_;  ///< what this CPU has no event for
};

}  // namespace

std::unique_ptr<Sensor> make_perf_sensor(const MonitorTarget& target, PerfOpener open) {
  return std::make_unique<PerfSensor>(target, std::move(open));
}

std::unique_ptr<Sensor> make_perf_sensor(const MonitorTarget& target) {
  return make_perf_sensor(target, open_in_kernel);
}

}  // namespace numabench
