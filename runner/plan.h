// An experiment and a host -> the cells, their hashes, and the order of the runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reports/store.h"
#include "runner/config/experiment.h"
#include "runner/engines/engine.h"
#include "workloads/workload.h"

namespace numabench {

struct PlannedCell {
  FactorSet factors;
  std::string hash;   ///< SHA-256 of everything that makes the cell's result what it is
  std::string group;  ///< the same without the arm
  WorkloadSize size;
  std::uint64_t working_set_bytes = 0;
  ResourceEstimate estimate;
};

struct PlannedRun {
  std::size_t cell = 0;  ///< index into Plan::cells
  int repetition = 1;    ///< 1-based; kDriftControl
  int block = 0;         ///< runs of one group and repetition, all arms
  int block_position = 0;
  std::uint64_t seed = 0;  ///< equal for all arms of a block: they get the same page strings
  int addition = 0;        ///< 0: of the plan; else the round of --add-runs

  bool is_drift_control() const { return repetition == kDriftControl; }
};

/// A cell that goes by NUMA nodes, on a host whose nodes cannot be trusted: the others go on.
struct LeftOutCell {
  FactorSet factors;
  std::string reason;  ///< "arm 'numa-only': …"
};

struct Plan {
  std::vector<PlannedCell> cells;
  std::vector<LeftOutCell> left_out;  ///< of the whole experiment
  std::vector<PlannedRun> runs;       ///< in the order of execution

  double estimated_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t peak_disk_bytes = 0;
};

/// In the blocked order, groups in config order; within a group the repetitions one after another,
/// the arms of each rotated by one place from a seeded start, so that no arm is always first. Last
/// comes the drift control. Cells that go by nodes are left out where the topology contradicts
/// itself. Throws Error(kUsage) when the engine refuses a cell and Error(kPreflight) when a
/// placement does not fit the host, or when no cell is left.
Plan make_plan(const Experiment& experiment, const Host& host, const Engine& engine);

/// "6 of 18 cells are left out, arm 'numa-only': …", a line for each reason.
std::vector<std::string> describe_left_out(const Plan& plan);

/// Equal for all arms of a block, different between repetitions and groups.
std::uint64_t block_seed(std::uint64_t seed, const std::string& group, int repetition);

/// The plan's first run once more at its end, with the same page strings, where the experiment asks
/// for it and there is more than one run; in place of the one that `plan` may have.
void add_drift_control(const Experiment& experiment, Plan& plan);

/// The workload of a cell with its parameters. Throws what make_workload() throws.
std::unique_ptr<Workload> make_cell_workload(const Experiment& experiment,
                                             const FactorSet& factors);

/// Canonical texts: equal exactly when the arms (the workloads' parameters) are.
std::string describe_arm(const Arm& arm);
std::string describe_parameters(const WorkloadConfig& workload);
/// "apart: clients cpus 2-3; server cpus 0-1, bind 0; clients spread: nodes"
std::string describe_placement(const PlacementConfig& placement);

/// Setup, warm-up and window of one run; spans in laps count with their limit.
double estimated_run_seconds(const Experiment& experiment, const PlannedCell& cell);

/// Sets the sums and peaks of `plan` from its cells and runs.
void add_up(const Experiment& experiment, Plan& plan);

/// The stored form of plan.cells[index].
CellRecord to_record(const Experiment& experiment, const Plan& plan, std::size_t index);

/// What an engine needs to run `cell`; the arguments must outlive the result.
CellSetup cell_setup(const Experiment& experiment, const Host& host, const PlannedCell& cell,
                     const Workload& workload);

}  // namespace numabench
