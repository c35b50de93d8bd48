// The clock sensor with clocks of the caller's: a test cannot set the machine's.
#pragma once

#include <functional>

#include "runner/measure/sensor.h"

namespace numabench {

/// `wall_minus_monotonic` is in seconds.
std::unique_ptr<Sensor> make_clock_sensor(const std::string& root,
                                          std::function<double()> wall_minus_monotonic);

}  // namespace numabench
