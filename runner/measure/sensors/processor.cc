#include <fmt/format.h>

#include <algorithm>

#include "hosts/units.h"
#include "reports/csv.h"
#include "runner/measure/cpu_times.h"
#include "runner/measure/readings.h"
#include "runner/measure/sensors/sensors.h"

namespace numabench {
namespace {

constexpr int kAllCpus = -1;

double share_pct(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

class ProcessorSensor : public Sensor {
 public:
  explicit ProcessorSensor(const MonitorTarget& target)
      : root_(target.root), node_of_cpu_(target.node_of_cpu) {}

  std::vector<MetricValue> read(double seconds) override {
    const FileText stat = read_file_below(root_, "/proc/stat");
    if (!stat.is_readable()) return all_absent(stat.reason);
    const std::map<int, CpuTicks> now = parse_cpu_ticks(stat.text);
    std::vector<MetricValue> values;
    add_host(named_numbers(stat.text), seconds, values);
    if (!last_.empty() && now.contains(kAllCpus)) {
      t_seconds_ += seconds;
      add_shares(now.at(kAllCpus) - last_.at(kAllCpus), values);
      add_single_cpus(now, values);
    }
    last_ = now;
    return values;
  }

  std::vector<ArtifactRecord> artifacts() const override {
    if (per_cpu_.empty()) return {};
    return {{"cpus-per-second.csv", "t_seconds,cpu,busy_pct\n" + per_cpu_}};
  }

 private:
  static std::vector<MetricValue> all_absent(const std::string& reason) {
    std::vector<MetricValue> values;
    for (const char* metric :
         {"cpu_busy_pct", "cpu_system_pct", "cpu_iowait_pct", "cpu_steal_pct", "cpu_busiest_pct",
          "cpu_idlest_pct", "run_queue", "host_switches_per_s", "interrupts_per_s"}) {
      values.push_back(MetricValue::absent(metric, reason));
    }
    return values;
  }

  static void add_shares(const CpuTicks& spent, std::vector<MetricValue>& values) {
    const double all = spent.all();
    values.push_back(MetricValue::of("cpu_busy_pct", share_pct(spent.busy(), all)));
    values.push_back(
        MetricValue::of("cpu_system_pct", share_pct(spent.system + spent.interrupts, all)));
    values.push_back(MetricValue::of("cpu_iowait_pct", share_pct(spent.iowait, all)));
    values.push_back(MetricValue::of("cpu_steal_pct", share_pct(spent.steal, all)));
  }

  /// A CPU that came or went meanwhile is left out.
  void add_single_cpus(const std::map<int, CpuTicks>& now, std::vector<MetricValue>& values) {
    double busiest = 0;
    double idlest = 100;
    std::map<int, CpuTicks> nodes;
    for (const auto& [cpu, ticks] : now) {
      const auto before = last_.find(cpu);
      if (cpu == kAllCpus || before == last_.end()) continue;
      const CpuTicks spent = ticks - before->second;
      const double busy = share_pct(spent.busy(), spent.all());
      busiest = std::max(busiest, busy);
      idlest = std::min(idlest, busy);
      per_cpu_ += csv_line({format_exact(t_seconds_), std::to_string(cpu), format_exact(busy)});
      const auto node = node_of_cpu_.find(cpu);
      if (node == node_of_cpu_.end()) continue;
      CpuTicks& sum = nodes[node->second];
      sum.user += spent.busy();
      sum.idle += spent.all() - spent.busy();
    }
    values.push_back(MetricValue::of("cpu_busiest_pct", busiest));
    values.push_back(MetricValue::of("cpu_idlest_pct", idlest));
    for (const auto& [node, spent] : nodes) {
      values.push_back(MetricValue::of(fmt::format("busy_pct_node{}", node),
                                       share_pct(spent.busy(), spent.all())));
    }
  }

  void add_host(const std::map<std::string, double, std::less<>>& numbers, double seconds,
                std::vector<MetricValue>& values) {
    const auto running = numbers.find("procs_running");
    if (running != numbers.end()) {
      values.push_back(MetricValue::of("run_queue", std::max(0.0, running->second - 1)));  // us
    }
    const auto rate = [&](const char* name, GrowingCounter& counter, const char* metric) {
      const auto found = numbers.find(name);
      if (found == numbers.end()) return;
      const std::optional<double> grown = counter.grown_to(found->second);
      if (grown && seconds > 0) values.push_back(MetricValue::of(metric, *grown / seconds));
    };
    rate("ctxt", switches_, "host_switches_per_s");
    rate("intr", interrupts_, "interrupts_per_s");
  }

  std::string root_;
  std::map<int, int> node_of_cpu_;
  std::map<int, CpuTicks> last_;
  GrowingCounter switches_;
  GrowingCounter interrupts_;
  double t_seconds_ = 0;
  std::string per_cpu_;  ///< lines of the artifact
};

}  // namespace

std::unique_ptr<Sensor> make_processor_sensor(const MonitorTarget& target) {
  return std::make_unique<ProcessorSensor>(target);
}

}  // namespace numabench
