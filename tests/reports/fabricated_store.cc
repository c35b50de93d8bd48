#include "fabricated_store.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace numabench {

TemporaryFolder::TemporaryFolder() {
  // Where there is memory to write to: every run of a store is forced to the disk.
  const std::filesystem::path memory = "/dev/shm";
  const auto parent =
      std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  std::string name = (parent / "numabench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), name);
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

FabricatedStore::FabricatedStore(std::vector<std::string> arms) {
  for (const std::string& arm : arms) arms_.push_back({arm, "", "definition of " + arm});
  experiment.name = "fabricated";
  experiment.engine = "embedded";
  experiment.baseline_arm = arms_.front().name;
  experiment.source_text = "arms: password=hunter2";
  experiment.expanded_text = "arms: password=hunter2";
  experiment.config_hash = std::string(64, 'c');
  experiment.seed = 42;
  experiment.runs_per_cell = 3;
  experiment.started_at = "2026-11-30T20:00:00Z";
  experiment.software = "numabench 0.1.0";
  host.hostname = "z1d";
  host.snapshot_json = R"({"hostname": "z1d", "facts": {"cpu model": "Xeon", "kernel": "6.1.0",
      "memory total": "2097152 kB", "governor": null}, "reasons": {"governor": "none"}})";
  host.topology_xml = "<topology/>";
}

ArmRecord& FabricatedStore::arm(const std::string& name) {
  return *std::ranges::find(arms_, name, &ArmRecord::name);
}

CellRecord& FabricatedStore::cell(const std::string& arm, double ratio) {
  CellRecord cell;
  cell.position = static_cast<int>(cells_.size());
  cell.hash = fmt::format("{:064x}", cells_.size() + 1);
  cell.group = fmt::format("group of ratio {}", ratio);
  cell.arm = arm;
  cell.workload = "zipfian";
  cell.workload_parameters = "s=1.1";
  cell.placement = "free";
  cell.regime = "none";
  cell.pool_bytes = 512ull << 20;
  cell.working_set_bytes = static_cast<std::uint64_t>(ratio * static_cast<double>(512ull << 20));
  cell.ratio = ratio;
  cell.clients = 24;
  return cells_.emplace_back(std::move(cell));
}

RunRecord& FabricatedStore::run(std::vector<MetricValue> values, RunStatus status,
                                const std::string& reason) {
  const std::size_t cell = cells_.size() - 1;
  RunRecord run;
  run.repetition =
      1 + static_cast<int>(std::count_if(runs_.begin(), runs_.end(), [cell](const auto& other) {
        return other.first == cell;
      }));
  run.run_order = static_cast<int>(runs_.size()) + 1;
  run.status = status;
  run.reason = reason;
  run.started_at = "2026-11-30T20:00:01Z";
  run.duration_seconds = 1;
  run.values = std::move(values);
  return runs_.emplace_back(cell, std::move(run)).second;
}

void FabricatedStore::runs_of(const std::string& metric, const std::vector<double>& values) {
  for (const double value : values) run({MetricValue::of(metric, value)});
}

Store FabricatedStore::write() {
  Store store = Store::open((folder_.path() / "results.db").string(), Store::Mode::kReadWrite);
  experiment.host_id = store.add_host(host);
  experiment.id = store.add_experiment(experiment, arms_, cells_);
  for (auto& [cell, run] : runs_) {
    run.cell_id = cells_[cell].id;
    store.add_run(run);
  }
  return store;
}

}  // namespace numabench
