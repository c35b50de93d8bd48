// A results file in a folder of its own, and records to put into it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "reports/store.h"

namespace numabench::test {

class StoreFolder : public testing::Test {
 protected:
  StoreFolder() {
    std::string name = testing::TempDir() + "numabench-store-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    folder_ = name;
    path_ = (folder_ / "results.db").string();
  }
  ~StoreFolder() override { std::filesystem::remove_all(folder_); }

  Store open_for_writing() const { return Store::open(path_, Store::Mode::kReadWrite); }
  Store open_for_reading() const { return Store::open(path_, Store::Mode::kReadOnly); }

  std::filesystem::path folder_;
  std::string path_;
};

inline ExperimentRecord experiment_record(std::int64_t host_id) {
  ExperimentRecord experiment;
  experiment.name = "quick";
  experiment.engine = "embedded";
  experiment.baseline_arm = "stock";
  experiment.host_id = host_id;
  return experiment;
}

/// One cell per arm and group; hashes and positions follow.
inline std::vector<CellRecord> cell_records(const std::vector<std::string>& arms,
                                            const std::vector<std::string>& groups) {
  std::vector<CellRecord> cells;
  for (const std::string& group : groups) {
    for (const std::string& arm : arms) {
      CellRecord cell;
      cell.arm = arm;
      cell.group = group;
      cell.hash = group + "/" + arm;
      cell.position = static_cast<int>(cells.size());
      cell.workload = "zipfian";
      cell.regime = "none";
      cells.push_back(cell);
    }
  }
  return cells;
}

inline std::vector<ArmRecord> arm_records(const std::vector<std::string>& names) {
  std::vector<ArmRecord> arms;
  for (const std::string& name : names) arms.push_back({name, "", ""});
  return arms;
}

/// Adds an experiment of `arms` × `groups`; returns its cells with their ids.
inline std::vector<CellRecord> add_cells(Store& store, const std::vector<std::string>& arms,
                                         const std::vector<std::string>& groups) {
  std::vector<CellRecord> cells = cell_records(arms, groups);
  const std::int64_t host = store.add_host({"host", "{}", ""});
  store.add_experiment(experiment_record(host), arm_records(arms), cells);
  return cells;
}

inline RunRecord run_record(std::int64_t cell_id, int repetition,
                            std::vector<MetricValue> values = {}) {
  RunRecord run;
  run.cell_id = cell_id;
  run.repetition = repetition;
  run.values = std::move(values);
  return run;
}

}  // namespace numabench::test
