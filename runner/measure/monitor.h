// All sensors of one window: looked at once a second by the run loop, between its own looks.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hosts/id_set.h"
#include "runner/measure/sensor.h"

namespace numabench {

/// What the sensors saw.
struct MonitorRecord {
  std::vector<SampleRecord> samples;
  std::vector<MetricValue> values;  ///< one a metric: its samples folded, or why there are none
  std::vector<ArtifactRecord> artifacts;
};

/// While it lives the calling thread runs on `cpus_to_keep_free`'s complement where there is one,
/// and where it may: what the monitors cost is not taken from the processes that are measured.
class QuietCorner {
 public:
  QuietCorner(const IdSet& all_cpus, const IdSet& cpus_to_keep_free);
  ~QuietCorner();
  QuietCorner(const QuietCorner&) = delete;
  QuietCorner& operator=(const QuietCorner&) = delete;

 private:
  IdSet before_;  ///< empty: nothing was changed
};

class Monitor {
 public:
  /// Takes the first look.
  explicit Monitor(std::vector<std::unique_ptr<Sensor>> sensors);

  /// `t_seconds` since the start of the window.
  void look(double t_seconds);
  MonitorRecord finish();

 private:
  void add(double t_seconds, const MetricValue& value);

  struct Series {
    std::vector<double> values;
    std::string reason;  ///< the last absent one's
  };

  std::vector<std::unique_ptr<Sensor>> sensors_;
  std::map<std::string, Series> series_;
  std::vector<SampleRecord> samples_;
  double last_seconds_ = 0;
};

/// All of the registry.
std::unique_ptr<Monitor> make_monitor(const MonitorTarget& target);

}  // namespace numabench
