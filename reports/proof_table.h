// The placement proofs of stored runs as text: where each process had to be, where it was, and
// where the pool's memory lay.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "reports/store.h"

namespace numabench {

/// A block a run, with a row for all processes of a role that were seen alike; processes that had
/// one CPU each count as alike. A process that was elsewhere has a row of its own. `wanted` selects
/// cells. Throws Error(kUsage) when there is no such experiment.
std::string format_placement_proofs(const Store& store, std::int64_t experiment_id,
                                    const std::function<bool(const CellRecord&)>& wanted);

}  // namespace numabench
