// What is looked at once a second while a window is measured: the one interface of all sensors.
//
// Adding a sensor: a .cc in sensors/ that reads files below `root`, its line in sensors/registry.cc
// and its metrics in reports/monitor_metrics.cc.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hosts/id_set.h"
#include "reports/metric.h"
#include "reports/store.h"
#include "runner/measure/role_process.h"

namespace numabench {

class Sensor {
 public:
  virtual ~Sensor() = default;
  /// What is now, and what happened since the last call `seconds` ago. The first call, with 0
  /// seconds, begins: it gives no rates. A metric that this host does not have is absent, with the
  /// reason; never 0.
  virtual std::vector<MetricValue> read(double seconds) = 0;
  /// Finer readings than samples, as files to keep.
  virtual std::vector<ArtifactRecord> artifacts() const { return {}; }
};

/// What the sensors of a run are to look at.
struct MonitorTarget {
  std::vector<RoleProcess> processes;
  IdSet cpus;                      ///< that any of them may use
  std::map<int, int> node_of_cpu;  ///< of all CPUs of the host
  IdSet nodes;                     ///< all of the host, those without CPUs or memory too
  std::string data_path;           ///< of what misses are read from; empty: of nothing on a disk
  bool has_server = true;          ///< apart from the clients
  bool pss = false;                ///< proportional set sizes, too
  bool perf = false;  ///< hardware counters, too: of the server, or of the clients where none is
  std::string root;   ///< of /proc and /sys; tests have one of their own
};

struct SensorEntry {
  const char* name;
  std::unique_ptr<Sensor> (*make)(const MonitorTarget&);
};
const std::vector<SensorEntry>& sensor_registry();

}  // namespace numabench
