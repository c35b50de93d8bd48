#include "runner/measure/sensors/clock.h"

#include <time.h>

#include <cmath>
#include <utility>

#include "runner/measure/readings.h"
#include "runner/measure/sensors/sensors.h"

namespace numabench {
namespace {

constexpr const char* kSource = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double machines_difference() { return seconds_of(CLOCK_REALTIME) - seconds_of(CLOCK_MONOTONIC); }

class ClockSensor : public Sensor {
 public:
  ClockSensor(std::string root, std::function<double()> wall_minus_monotonic)
      : root_(std::move(root)), wall_minus_monotonic_(std::move(wall_minus_monotonic)) {}

  std::vector<MetricValue> read(double) override {
    std::vector<MetricValue> values;
    const double difference = wall_minus_monotonic_();
    if (difference_) {
      values.push_back(MetricValue::of("wall_clock_jump_s", std::abs(difference - *difference_)));
    }
    difference_ = difference;
    add_source(values);
    return values;
  }

 private:
  void add_source(std::vector<MetricValue>& values) {
    const FileText source = read_file_below(root_, kSource);
    if (!source.is_readable()) {
      values.push_back(MetricValue::absent("clocksource_changes", source.reason));
      return;
    }
    if (source_) {
      values.push_back(MetricValue::of("clocksource_changes", *source_ == source.text ? 0 : 1));
    }
    source_ = source.text;
  }

  std::string root_;
  std::function<double()> wall_minus_monotonic_;
  std::optional<double> difference_;
  std::optional<std::string> source_;
};

}  // namespace

std::unique_ptr<Sensor> make_clock_sensor(const std::string& root,
                                          std::function<double()> wall_minus_monotonic) {
  return std::make_unique<ClockSensor>(root, std::move(wall_minus_monotonic));
}

std::unique_ptr<Sensor> make_clock_sensor(const MonitorTarget& target) {
  return make_clock_sensor(target.root, machines_difference);
}

}  // namespace numabench
