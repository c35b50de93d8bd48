// How far each partition may serve its own allocations, recomputed once per background-writer
// cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/engines/embedded/clock_sweep.h"

namespace numabench {

/// weights[p][q]: of 100 allocations that originate in partition p, how many q serves.
using PartitionWeights = std::vector<std::vector<std::uint32_t>>;

/// The weights that give every partition the mean of `requests`; empty when there is too little
/// traffic (a mean under 100) or too little excess (under 10 % of the mean) to change anything.
PartitionWeights fair_weights(const std::vector<std::uint64_t>& requests);

/// Takes the request counters and averages the fair weights half and half with those in force.
void rebalance(ClockSweep& sweep);

}  // namespace numabench
