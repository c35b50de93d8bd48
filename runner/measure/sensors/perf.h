// The perf sensor with an opener of the caller's: virtual machines have no hardware counters.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <functional>

#include "hosts/file_descriptor.h"
#include "runner/measure/sensor.h"

namespace numabench {

/// A descriptor that reads {value, time enabled, time running}, or a closed one and errno.
using PerfOpener = std::function<FileDescriptor(const perf_event_attr& event, pid_t pid)>;

std::unique_ptr<Sensor> make_perf_sensor(const MonitorTarget& target, PerfOpener open);

}  // namespace numabench
