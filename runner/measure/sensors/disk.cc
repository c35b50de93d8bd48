#include <fmt/format.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>

#include "hosts/disk_stats.h"
#include "runner/measure/sensors/sensors.h"

namespace numabench {
namespace {

class DiskSensor : public Sensor {
 public:
  explicit DiskSensor(const MonitorTarget& target)
      : root_(target.root),
        path_(target.data_path),
        device_(path_.empty() ? "" : device_of(path_)) {}

  std::vector<MetricValue> read(double seconds) override {
    std::vector<MetricValue> values{free_space()};
    const std::optional<DiskCounters> now =
        device_.empty() ? std::nullopt : read_disk_counters(device_, root_);
    if (!now) {
      add_absent(values);
    } else if (last_ && seconds > 0) {
      add_rates(*last_, *now, seconds, values);
    }
    last_ = now;
    return values;
  }

 private:
  MetricValue free_space() const {
    if (path_.empty()) return MetricValue::absent("disk_free_pct", "the run reads no files");
    struct statvfs status {};
    if (::statvfs(path_.c_str(), &status) != 0) {
      return MetricValue::absent("disk_free_pct",
                                 fmt::format("statvfs {}: {}", path_, std::strerror(errno)));
    }
    return MetricValue::of("disk_free_pct", 100.0 * static_cast<double>(status.f_bavail) /
                                                static_cast<double>(status.f_blocks));
  }

  void add_absent(std::vector<MetricValue>& values) const {
    const char* reason = path_.empty() ? "the run reads no files"
                                       : "the data's filesystem has no block device of its own";
    for (const char* metric :
         {"disk_reads_per_s", "disk_read_bytes_per_s", "disk_read_latency_ms", "disk_writes_per_s",
          "disk_write_bytes_per_s", "disk_write_latency_ms", "disk_utilisation_pct"}) {
      values.push_back(MetricValue::absent(metric, reason));
    }
  }

  static void add_rates(const DiskCounters& from, const DiskCounters& to, double seconds,
                        std::vector<MetricValue>& values) {
    const auto reads = static_cast<double>(to.reads - from.reads);
    const auto writes = static_cast<double>(to.writes - from.writes);
    const auto add = [&](const char* metric, double value) {
      values.push_back(MetricValue::of(metric, value));
    };
    const auto add_latency = [&](const char* metric, double spent_seconds, double operations) {
      if (operations > 0) add(metric, 1000 * spent_seconds / operations);
    };
    add("disk_reads_per_s", reads / seconds);
    add("disk_read_bytes_per_s", static_cast<double>(to.bytes_read - from.bytes_read) / seconds);
    add_latency("disk_read_latency_ms", to.read_seconds - from.read_seconds, reads);
    add("disk_writes_per_s", writes / seconds);
    add("disk_write_bytes_per_s",
        static_cast<double>(to.bytes_written - from.bytes_written) / seconds);
    add_latency("disk_write_latency_ms", to.write_seconds - from.write_seconds, writes);
    add("disk_utilisation_pct", 100 * (to.busy_seconds - from.busy_seconds) / seconds);
  }

  std::string root_;
  std::string path_;
  std::string device_;
  std::optional<DiskCounters> last_;
};

}  // namespace

std::unique_ptr<Sensor> make_disk_sensor(const MonitorTarget& target) {
  return std::make_unique<DiskSensor>(target);
}

}  // namespace numabench
