#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "runner/measure/readings.h"
#include "runner/measure/sensors/sensors.h"

namespace numabench {
namespace {

class FrequencySensor : public Sensor {
 public:
  explicit FrequencySensor(const MonitorTarget& target) : root_(target.root), cpus_(target.cpus) {}

  std::vector<MetricValue> read(double) override {
    const std::optional<double> mhz = mean_mhz();
    if (!mhz) {
      return {MetricValue::absent("frequency_mhz", reason_),
              MetricValue::absent("frequency_moved_pct", reason_)};
    }
    lowest_ = std::min(lowest_.value_or(*mhz), *mhz);
    highest_ = std::max(highest_.value_or(*mhz), *mhz);
    return {MetricValue::of("frequency_mhz", *mhz),
            MetricValue::of("frequency_moved_pct", 100 * (*highest_ - *lowest_) / *highest_)};
  }

 private:
  std::optional<double> mean_mhz() {
    double sum = 0;
    int count = 0;
    for (const int cpu : cpus_) {
      const FileText file = read_file_below(
          root_, fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu));
      const std::optional<double> khz = number_of(file.text);
      if (!khz) {
        reason_ = file.reason.empty() ? "cpufreq does not say" : file.reason;
        continue;
      }
      sum += *khz / 1000;
      ++count;
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  }

  std::string root_;
  IdSet cpus_;
  std::optional<double> lowest_;
  std::optional<double> highest_;
  std::string reason_ = "the run has no CPUs of its own";
};

}  // namespace

std::unique_ptr<Sensor> make_frequency_sensor(const MonitorTarget& target) {
  return std::make_unique<FrequencySensor>(target);
}

}  // namespace numabench
