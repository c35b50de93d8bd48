#include "runner/measure/sensors/sensors.h"

namespace numabench {

const std::vector<SensorEntry>& sensor_registry() {
  static const std::vector<SensorEntry> kSensors = {
      {"processor", make_processor_sensor}, {"frequency", make_frequency_sensor},
      {"thermal", make_thermal_sensor},     {"clock", make_clock_sensor},
      {"memory", make_memory_sensor},       {"vmstat", make_vmstat_sensor},
      {"node", make_node_sensor},           {"disk", make_disk_sensor},
      {"process", make_process_sensor},     {"perf", make_perf_sensor},
  };
  return kSensors;
}

}  // namespace numabench
