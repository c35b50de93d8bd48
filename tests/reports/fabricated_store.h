// A results store in a temporary folder with numbers that a test chooses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "reports/store.h"

namespace numabench {

/// A folder of its own, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Describes an experiment, then writes it: cells first, runs with the values given for them.
class FabricatedStore {
 public:
  explicit FabricatedStore(std::vector<std::string> arms);

  ExperimentRecord experiment;  ///< to change before write()
  HostRecord host;

  /// The record of an arm, to be changed before write().
  ArmRecord& arm(const std::string& name);
  /// A cell of `arm` at `ratio` (zipfian, a pool of 512 MiB, 24 clients); returned to be changed.
  CellRecord& cell(const std::string& arm, double ratio);
  /// A run of the cell that was added last.
  RunRecord& run(std::vector<MetricValue> values, RunStatus status = RunStatus::kOk,
                 const std::string& reason = "");
  /// Three runs of the cell added last with these values of one metric.
  void runs_of(const std::string& metric, const std::vector<double>& values);

  /// Opens the store with the experiment in it; its id is in `experiment`.
  Store write();

 private:
  TemporaryFolder folder_;
  std::vector<ArmRecord> arms_;
  std::vector<CellRecord> cells_;
  std::vector<std::pair<std::size_t, RunRecord>> runs_;  ///< with the index of its cell
};

}  // namespace numabench
