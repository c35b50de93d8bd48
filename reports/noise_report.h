// What the noise of a host means for experiments on it.
#pragma once

#include <cstdint>
#include <string>

#include "reports/store.h"

namespace numabench {

/// For each cell that has an A/A copy, and each throughput: how far two runs of the same arm are
/// apart, the smallest difference that as many runs can show and the runs it takes for 0.5, 1 and 2
/// % (statistics/power.h). Says so when no copy ran. Throws Error(kUsage) for an unknown
/// experiment.
std::string format_noise(const Store& store, std::int64_t experiment_id);

/// The error rates and the power of verdicts on simulated experiments whose pairs of runs have this
/// noise, `experiments` of each kind (statistics/simulation.h): false verdicts where nothing
/// differs, without and with a drift of 5 %, in blocks and in the order of the config; and how
/// often 0.5, 1 and 2 % are found, beside what power.h predicts. Then false verdicts where runs are
/// added while the verdict is open.
std::string format_simulation(double noise_percent, int experiments);

}  // namespace numabench
