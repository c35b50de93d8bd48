// The picture of one run: its seconds one by one, with what happened meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/store.h"

namespace numabench {

/// A run, wherever in a file it is.
struct FoundRun {
  ExperimentRecord experiment;
  CellRecord cell;
  RunRecord run;
};

/// nullopt when the file has no run of this id.
std::optional<FoundRun> find_run(const Store& store, std::int64_t run_id);

/// Writes <directory>/run-<id>.svg and .png: a panel each for speed, hit ratio, CPUs, disk and
/// memory where there are samples of them, over the seconds of the window, and a line across all
/// for each event that has a time. The script and its data lie beside them. Returns the paths of
/// the images. Throws Error(kUsage) when the run has no samples, Error(kRun) as draw_figures()
/// does.
std::vector<std::string> draw_run(const Store& store, const FoundRun& found,
                                  const std::string& directory);

}  // namespace numabench
