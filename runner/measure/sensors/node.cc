#include <fmt/format.h>

#include <map>

#include "runner/measure/readings.h"
#include "runner/measure/sensors/sensors.h"

namespace numabench {
namespace {

struct NodeCounter {
  const char* metric;
  const char* line;  ///< of numastat
};
constexpr NodeCounter kCounters[] = {{"numa_hits_per_s_node", "numa_hit"},
                                     {"numa_misses_per_s_node", "numa_miss"},
                                     {"numa_remote_per_s_node", "other_node"}};

struct NodeGauge {
  const char* metric;
  const char* label;  ///< of meminfo
};
constexpr NodeGauge kGauges[] = {{"memory_free_bytes_node", "MemFree"},
                                 {"page_cache_bytes_node", "FilePages"}};

class NodeSensor : public Sensor {
 public:
  explicit NodeSensor(const MonitorTarget& target) : root_(target.root), nodes_(target.nodes) {}

  std::vector<MetricValue> read(double seconds) override {
    std::vector<MetricValue> values;
    for (const int node : nodes_) {
      const std::string directory = fmt::format("/sys/devices/system/node/node{}/", node);
      add_counters(node, read_file_below(root_, directory + "numastat"), seconds, values);
      add_gauges(node, read_file_below(root_, directory + "meminfo"), values);
    }
    return values;
  }

 private:
  void add_counters(int node, const FileText& file, double seconds,
                    std::vector<MetricValue>& values) {
    const auto numbers = named_numbers(file.text);
    for (const NodeCounter& wanted : kCounters) {
      const std::string metric = fmt::format("{}{}", wanted.metric, node);
      const auto found = numbers.find(wanted.line);
      if (found == numbers.end()) {
        values.push_back(MetricValue::absent(metric, reason(file, wanted.line)));
        continue;
      }
      const std::optional<double> grown = counters_[metric].grown_to(found->second);
      if (grown && seconds > 0) values.push_back(MetricValue::of(metric, *grown / seconds));
    }
  }

  static void add_gauges(int node, const FileText& file, std::vector<MetricValue>& values) {
    const auto numbers = named_numbers(file.text);
    for (const NodeGauge& wanted : kGauges) {
      const std::string metric = fmt::format("{}{}", wanted.metric, node);
      const auto found = numbers.find(wanted.label);
      values.push_back(found == numbers.end()
                           ? MetricValue::absent(metric, reason(file, wanted.label))
                           : MetricValue::of(metric, 1024 * found->second));
    }
  }

  static std::string reason(const FileText& file, const char* line) {
    return file.is_readable() ? fmt::format("no line {}", line) : file.reason;
  }

  std::string root_;
  IdSet nodes_;
  std::map<std::string, GrowingCounter> counters_;
};

}  // namespace

std::unique_ptr<Sensor> make_node_sensor(const MonitorTarget& target) {
  return std::make_unique<NodeSensor>(target);
}

}  // namespace numabench
