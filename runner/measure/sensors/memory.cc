#include <algorithm>

#include "runner/measure/readings.h"
#include "runner/measure/sensors/sensors.h"

namespace numabench {
namespace {

struct Gauge {
  const char* metric;
  const char* label;
  double factor;
};

constexpr double kKibibyte = 1024;
constexpr Gauge kGauges[] = {{"memory_available_bytes", "MemAvailable", kKibibyte},
                             {"page_cache_bytes", "Cached", kKibibyte},
                             {"dirty_bytes", "Dirty", kKibibyte},
                             {"huge_pages_free", "HugePages_Free", 1}};

class MemorySensor : public Sensor {
 public:
  explicit MemorySensor(const MonitorTarget& target) : root_(target.root) {}

  std::vector<MetricValue> read(double) override {
    const FileText file = read_file_below(root_, "/proc/meminfo");
    const auto numbers = named_numbers(file.text);
    std::vector<MetricValue> values;
    for (const Gauge& gauge : kGauges) {
      const auto found = numbers.find(gauge.label);
      values.push_back(found == numbers.end()
                           ? MetricValue::absent(gauge.metric, reason(file))
                           : MetricValue::of(gauge.metric, gauge.factor * found->second));
    }
    const auto total = numbers.find("SwapTotal");
    const auto free = numbers.find("SwapFree");
    values.push_back(
        total == numbers.end() || free == numbers.end()
            ? MetricValue::absent("swap_used_bytes", reason(file))
            : MetricValue::of("swap_used_bytes", kKibibyte * (total->second - free->second)));
    return values;
  }

 private:
  static std::string reason(const FileText& file) {
    return file.is_readable() ? "/proc/meminfo has no such line" : file.reason;
  }

  std::string root_;
};

}  // namespace

std::unique_ptr<Sensor> make_memory_sensor(const MonitorTarget& target) {
  return std::make_unique<MemorySensor>(target);
}

}  // namespace numabench
