#include <map>
#include <vector>

#include "runner/measure/readings.h"
#include "runner/measure/sensors/sensors.h"

namespace numabench {
namespace {

/// A metric and the lines of /proc/vmstat whose growth it is.
struct VmstatMetric {
  const char* metric;
  std::vector<const char*> lines;
  bool per_second = true;
};

const std::vector<VmstatMetric>& vmstat_metrics() {
  static const std::vector<VmstatMetric> kMetrics = {
      {"swapped_pages", {"pswpin", "pswpout"}, false},
      {"oom_kills", {"oom_kill"}, false},
      {"major_faults_per_s", {"pgmajfault"}},
      {"numa_hits_per_s", {"numa_hit"}},
      {"numa_misses_per_s", {"numa_miss"}},
      {"numa_hint_faults_per_s", {"numa_hint_faults"}},
      {"numa_migrations_per_s", {"numa_pages_migrated"}},
      {"page_migrations_per_s", {"pgmigrate_success"}},
      {"thp_faults_per_s", {"thp_fault_alloc"}},
      {"thp_collapses_per_s", {"thp_collapse_alloc"}},
      {"thp_splits_per_s", {"thp_split_page"}},
  };
  return kMetrics;
}

class VmstatSensor : public Sensor {
 public:
  explicit VmstatSensor(const MonitorTarget& target) : root_(target.root) {}

  std::vector<MetricValue> read(double seconds) override {
    const FileText file = read_file_below(root_, "/proc/vmstat");
    const auto numbers = named_numbers(file.text);
    std::vector<MetricValue> values;
    for (const VmstatMetric& wanted : vmstat_metrics()) {
      double sum = 0;
      bool known = true;
      for (const char* line : wanted.lines) {
        const auto found = numbers.find(line);
        known = known && found != numbers.end();
        if (known) sum += found->second;
      }
      if (!known) {
        values.push_back(MetricValue::absent(
            wanted.metric, file.is_readable()
                               ? std::string("this kernel's /proc/vmstat has no ") + wanted.lines[0]
                               : file.reason));
        continue;
      }
      const std::optional<double> grown = counters_[wanted.metric].grown_to(sum);
      if (!grown || seconds <= 0) continue;
      values.push_back(
          MetricValue::of(wanted.metric, wanted.per_second ? *grown / seconds : *grown));
    }
    return values;
  }

 private:
  std::string root_;
  std::map<std::string, GrowingCounter> counters_;
};

}  // namespace

std::unique_ptr<Sensor> make_vmstat_sensor(const MonitorTarget& target) {
  return std::make_unique<VmstatSensor>(target);
}

}  // namespace numabench
