#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "runner/measure/readings.h"
#include "runner/measure/sensors/sensors.h"

namespace numabench {
namespace {

constexpr const char* kZones = "/sys/class/thermal";

class ThermalSensor : public Sensor {
 public:
  explicit ThermalSensor(const MonitorTarget& target)
      : root_(target.root), node_of_cpu_(target.node_of_cpu) {}

  std::vector<MetricValue> read(double) override {
    std::vector<MetricValue> values{temperature()};
    add_throttling(values);
    return values;
  }

 private:
  MetricValue temperature() const {
    std::optional<double> hottest;
    std::error_code unreadable;
    for (const auto& zone : std::filesystem::directory_iterator(root_ + kZones, unreadable)) {
      const std::string name = zone.path().filename();
      if (!name.starts_with("thermal_zone")) continue;
      const FileText text = read_file_below(root_, fmt::format("{}/{}/temp", kZones, name));
      const std::optional<double> milli = number_of(text.text);
      if (milli) hottest = std::max(hottest.value_or(*milli / 1000), *milli / 1000);
    }
    if (!hottest) {
      return MetricValue::absent("temperature_c", "this host has no thermal zone to be read");
    }
    return MetricValue::of("temperature_c", *hottest);
  }

  /// Cores count their own; the package's is told by each of its CPUs, so that an event counts once
  /// for each CPU it slowed down.
  void add_throttling(std::vector<MetricValue>& values) {
    double events = 0;
    bool any = false;
    std::string reason = "this host has no CPU";
    for (const auto& [cpu, node] : node_of_cpu_) {
      for (const char* kind : {"core", "package"}) {
        const FileText file = read_file_below(
            root_, fmt::format("/sys/devices/system/cpu/cpu{}/thermal_throttle/{}_throttle_count",
                               cpu, kind));
        const std::optional<double> count = number_of(file.text);
        if (!count) {
          reason = file.reason;
          continue;
        }
        any = true;
        events += *count;
      }
    }
    if (!any) {
      values.push_back(MetricValue::absent("throttle_events", reason));
    } else if (const std::optional<double> grown = throttled_.grown_to(events)) {
      values.push_back(MetricValue::of("throttle_events", *grown));
    }
  }

  std::string root_;
  std::map<int, int> node_of_cpu_;
  GrowingCounter throttled_;
};

}  // namespace

std::unique_ptr<Sensor> make_thermal_sensor(const MonitorTarget& target) {
  return std::make_unique<ThermalSensor>(target);
}

}  // namespace numabench
