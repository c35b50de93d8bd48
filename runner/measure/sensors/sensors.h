// The sensors; registry.cc has them all.
#pragma once

#include <memory>

#include "runner/measure/sensor.h"

namespace numabench {

/// /proc/stat: all CPUs, each node, the busiest and the idlest; each CPU in an artifact.
std::unique_ptr<Sensor> make_processor_sensor(const MonitorTarget& target);
/// cpufreq, or /proc/cpuinfo where there is none.
std::unique_ptr<Sensor> make_frequency_sensor(const MonitorTarget& target);
/// thermal_throttle of the CPUs, and the thermal zones.
std::unique_ptr<Sensor> make_thermal_sensor(const MonitorTarget& target);
/// The kernel's clock source, and the wall clock against the monotonic one.
std::unique_ptr<Sensor> make_clock_sensor(const MonitorTarget& target);
/// /proc/meminfo
std::unique_ptr<Sensor> make_memory_sensor(const MonitorTarget& target);
/// /proc/vmstat: NUMA, migrations, huge pages, swap, OOM kills.
std::unique_ptr<Sensor> make_vmstat_sensor(const MonitorTarget& target);
/// numastat and meminfo of each node.
std::unique_ptr<Sensor> make_node_sensor(const MonitorTarget& target);
/// The data's block device and the free space of its filesystem.
std::unique_ptr<Sensor> make_disk_sensor(const MonitorTarget& target);
/// CPU time, memory and state of the run's processes; and what others use.
std::unique_ptr<Sensor> make_process_sensor(const MonitorTarget& target);
/// perf_event_open(2) on the server's processes; loads by where they were answered from on the CPU
/// models of cpu_events.h.
std::unique_ptr<Sensor> make_perf_sensor(const MonitorTarget& target);

}  // namespace numabench
