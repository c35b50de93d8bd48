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
///
/// Of the columns that do not explain themselves:
///   scale            what --scale-to-host multiplied every size by; 1: nothing
///   software         version, commit, build type and compiler of numabench, whose own code is what
///                    the embedded engine measures
///   copy_of          the arm that this is a second copy of (A/A); empty: it is none
///   series           of an arm of `series: each-prefix`, the name it was written under …
///   series_position  … and how many of its patches this arm has; 0: none of them
///   build_source     of a built arm: "git <URL> <commit>", "tarball <SHA-256>" …
///   build_id         of its server's binary, as `file` and `readelf -n` print it
///   addition         which round of --add-runs added the run; 0: it is of the plan
///
/// `wanted` may be empty: all cells. Throws Error(kUsage) for an unknown experiment.
std::string export_csv(const Store& store, std::int64_t experiment_id,
                       const std::function<bool(const CellRecord&)>& wanted);

/// {experiment, host, arms (with the whole build record as `build`), metrics, cells: [{…, runs:
/// [{…, values: {metric: number | null}, reasons: {metric: why it is null}, events,
/// placement_proofs}]}]}; text that is not UTF-8 has U+FFFD in place of what is not. Otherwise as
/// export_csv().
std::string export_json(const Store& store, std::int64_t experiment_id,
                        const std::function<bool(const CellRecord&)>& wanted);

}  // namespace numabench
