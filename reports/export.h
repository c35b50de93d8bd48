// Raw runs of an experiment as CSV (one row a run, factors in front) or JSON.
//
// Numbers read back as the very doubles that the store holds; seeds, which do not fit into one, are
// decimal text in JSON. Samples and artifacts stay in the store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "reports/store.h"

namespace numabench {

/// CSV with a header line: factors, the run, then each metric that any of the runs has. Absent
/// values are empty fields; every finished run of a wanted cell is in, with its status and reason.
/// `wanted` may be empty: all cells. Throws Error(kUsage) for an unknown experiment.
std::string export_csv(const Store& store, std::int64_t experiment_id,
                       const std::function<bool(const CellRecord&)>& wanted);

/// {experiment, host, arms, metrics, cells: [{…, runs: [{…, values: {metric: number | null},
/// reasons: {metric: why it is null}, events, placement_proofs}]}]}; text that is not UTF-8 has
/// U+FFFD in place of what is not. Otherwise as export_csv().
std::string export_json(const Store& store, std::int64_t experiment_id,
                        const std::function<bool(const CellRecord&)>& wanted);

}  // namespace numabench
