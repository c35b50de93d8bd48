// The reading half of Store.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <limits>
#include <unordered_map>

#include "hosts/error.h"
#include "reports/compression.h"
#include "reports/store.h"
#include "reports/store_file.h"

namespace numabench {
namespace {

std::uint64_t to_seed(const std::string& text) {
  std::uint64_t seed = 0;
  std::from_chars(text.data(), text.data() + text.size(), seed);
  return seed;
}

std::uint64_t to_size(std::int64_t integer) { return static_cast<std::uint64_t>(integer); }

std::optional<double> to_optional(const SQLite::Column& column) {
  if (column.isNull()) return std::nullopt;
  return column.getDouble();
}

RunStatus to_status(const std::string& text) {
  constexpr std::array kStatuses = {RunStatus::kOk, RunStatus::kFailed, RunStatus::kVoid,
                                    RunStatus::kInterrupted};
  const auto found = std::find_if(kStatuses.begin(), kStatuses.end(),
                                  [&](RunStatus status) { return to_string(status) == text; });
  if (found == kStatuses.end()) {
    throw Error(ErrorKind::kInternal, "the store has a run of status '" + text + "'");
  }
  return *found;
}

constexpr const char* kExperimentColumns =
    "SELECT id, name, engine, baseline_arm, source_text, expanded_text, config_hash, seed,"
    " runs_per_cell, smoke, scale, notes, started_at, software, host_id FROM experiment ";

ExperimentRecord read_experiment(const SQLite::Statement& row) {
  ExperimentRecord experiment;
  experiment.id = row.getColumn(0).getInt64();
  experiment.name = row.getColumn(1).getString();
  experiment.engine = row.getColumn(2).getString();
  experiment.baseline_arm = row.getColumn(3).getString();
  experiment.source_text = row.getColumn(4).getString();
  experiment.expanded_text = row.getColumn(5).getString();
  experiment.config_hash = row.getColumn(6).getString();
  experiment.seed = to_seed(row.getColumn(7).getString());
  experiment.runs_per_cell = row.getColumn(8).getInt();
  experiment.smoke = row.getColumn(9).getInt() != 0;
  experiment.scale = row.getColumn(10).getDouble();
  experiment.notes = row.getColumn(11).getString();
  experiment.started_at = row.getColumn(12).getString();
  experiment.software = row.getColumn(13).getString();
  experiment.host_id = row.getColumn(14).getInt64();
  return experiment;
}

ArmRecord read_arm(const SQLite::Statement& row) {
  ArmRecord arm;
  arm.name = row.getColumn(0).getString();
  arm.description = row.getColumn(1).getString();
  arm.definition = row.getColumn(2).getString();
  if (!row.getColumn(3).isNull()) arm.build_json = row.getColumn(3).getString();
  arm.series = row.getColumn(4).getString();
  arm.series_position = row.getColumn(5).getInt();
  arm.copy_of = row.getColumn(6).getString();
  return arm;
}

CellRecord read_cell(const SQLite::Statement& row) {
  CellRecord cell;
  cell.id = row.getColumn(0).getInt64();
  cell.hash = row.getColumn(1).getString();
  cell.group = row.getColumn(2).getString();
  cell.position = row.getColumn(3).getInt();
  cell.arm = row.getColumn(4).getString();
  cell.workload = row.getColumn(5).getString();
  cell.workload_parameters = row.getColumn(6).getString();
  cell.regime = row.getColumn(7).getString();
  cell.placement = row.getColumn(8).getString();
  cell.pool_bytes = to_size(row.getColumn(9).getInt64());
  cell.working_set_bytes = to_size(row.getColumn(10).getInt64());
  cell.ratio = row.getColumn(11).getDouble();
  cell.clients = row.getColumn(12).getInt();
  return cell;
}

RunRecord read_run(const SQLite::Statement& row) {
  RunRecord run;
  run.id = row.getColumn(0).getInt64();
  run.cell_id = row.getColumn(1).getInt64();
  run.repetition = row.getColumn(2).getInt();
  run.run_order = row.getColumn(3).getInt();
  run.block = row.getColumn(4).getInt();
  run.block_position = row.getColumn(5).getInt();
  run.seed = to_seed(row.getColumn(6).getString());
  run.status = to_status(row.getColumn(7).getString());
  run.reason = row.getColumn(8).getString();
  run.started_at = row.getColumn(9).getString();
  run.duration_seconds = row.getColumn(10).getDouble();
  run.addition = row.getColumn(11).getInt();
  return run;
}

PlacementProofRecord read_placement_proof(const SQLite::Statement& row) {
  PlacementProofRecord proof;
  proof.role = row.getColumn(1).getString();
  proof.pid = row.getColumn(2).getInt64();
  proof.expected = row.getColumn(3).getString();
  proof.observed = row.getColumn(4).getString();
  proof.differs = row.getColumn(5).getString();
  proof.looks = row.getColumn(6).getInt();
  if (!row.getColumn(7).isNull()) proof.cpu_migrations = row.getColumn(7).getInt64();
  proof.cpu_migrations_reason = row.getColumn(8).getString();
  return proof;
}

PoolMemoryRecord read_pool_memory(const SQLite::Statement& row) {
  PoolMemoryRecord memory;
  using Moment = PoolMemoryRecord::Moment;
  const bool before = row.getColumn(1).getString() == to_string(Moment::kBefore);
  memory.moment = before ? Moment::kBefore : Moment::kAfter;
  memory.node = row.getColumn(2).getInt();
  memory.page_bytes = to_size(row.getColumn(3).getInt64());
  memory.pages = to_size(row.getColumn(4).getInt64());
  return memory;
}

ArtifactRecord read_artifact(const std::string& path, const SQLite::Statement& row) {
  const std::string name = row.getColumn(0).getString();
  const auto size_bytes = static_cast<std::size_t>(row.getColumn(1).getInt64());
  try {
    return {name, decompress(row.getColumn(2).getString(), size_bytes)};
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kUsage, path + ": artifact '" + name + "' is damaged: " + error.what(),
                "take it from another copy of the file");
  }
}

/// Reads the rows that belong to the runs of one experiment and hands each to its run.
class RunDetails {
 public:
  RunDetails(const SQLite::Database& database, std::int64_t experiment_id,
             const std::string& condition, std::vector<RunRecord>& runs)
      : database_(database), experiment_id_(experiment_id), condition_(condition) {
    for (RunRecord& run : runs) run_of_id_[run.id] = &run;
  }

  void read() {
    for_each("value", "run_id, metric, value, reason", "metric",
             [](RunRecord& run, const SQLite::Statement& row) {
               run.values.push_back({row.getColumn(1).getString(), to_optional(row.getColumn(2)),
                                     row.getColumn(3).getString()});
             });
    for_each("event", "run_id, severity, text, t", "id",
             [](RunRecord& run, const SQLite::Statement& row) {
               run.events.push_back({row.getColumn(1).getString(), row.getColumn(2).getString(),
                                     to_optional(row.getColumn(3))});
             });
    for_each("placement_proof",
             "run_id, role, pid, expected, observed, differs, looks, cpu_migrations,"
             " cpu_migrations_reason",
             "id", [](RunRecord& run, const SQLite::Statement& row) {
               run.placement_proofs.push_back(read_placement_proof(row));
             });
    for_each("pool_memory", "run_id, moment, node, page_bytes, pages", "id",
             [](RunRecord& run, const SQLite::Statement& row) {
               run.pool_memory.push_back(read_pool_memory(row));
             });
  }

 private:
  template <typename Add>
  void for_each(const std::string& table, const std::string& columns, const std::string& order,
                const Add& add) {
    SQLite::Statement row(database_, "SELECT " + columns + " FROM " + table +
                                         " WHERE run_id IN (SELECT run.id FROM run"
                                         " JOIN cell ON cell.id = run.cell_id"
                                         " WHERE cell.experiment_id = ? AND " +
                                         condition_ + ") ORDER BY " + order);
    row.bind(1, experiment_id_);
    while (row.executeStep()) add(*run_of_id_.at(row.getColumn(0).getInt64()), row);
  }

  const SQLite::Database& database_;
  std::int64_t experiment_id_;
  std::string condition_;  ///< on the table run
  std::unordered_map<std::int64_t, RunRecord*> run_of_id_;
};

}  // namespace

std::vector<ExperimentRecord> Store::experiments() const {
  return with_store_errors(path_, [&] {
    std::vector<ExperimentRecord> experiments;
    SQLite::Statement row(*database_, std::string(kExperimentColumns) + "ORDER BY id");
    while (row.executeStep()) experiments.push_back(read_experiment(row));
    return experiments;
  });
}

std::optional<ExperimentRecord> Store::experiment(std::int64_t id) const {
  return with_store_errors(path_, [&]() -> std::optional<ExperimentRecord> {
    SQLite::Statement row(*database_, std::string(kExperimentColumns) + "WHERE id = ?");
    row.bind(1, id);
    if (!row.executeStep()) return std::nullopt;
    return read_experiment(row);
  });
}

std::optional<HostRecord> Store::host(std::int64_t id) const {
  return with_store_errors(path_, [&]() -> std::optional<HostRecord> {
    SQLite::Statement row(*database_,
                          "SELECT hostname, snapshot_json, topology_xml FROM host WHERE id = ?");
    row.bind(1, id);
    if (!row.executeStep()) return std::nullopt;
    return HostRecord{row.getColumn(0).getString(), row.getColumn(1).getString(),
                      row.getColumn(2).getString()};
  });
}

std::vector<ArmRecord> Store::arms(std::int64_t experiment_id) const {
  return with_store_errors(path_, [&] {
    std::vector<ArmRecord> arms;
    SQLite::Statement row(*database_,
                          "SELECT name, description, definition, build_json, series, "
                          "series_position, copy_of FROM arm"
                          " WHERE experiment_id = ? ORDER BY id");
    row.bind(1, experiment_id);
    while (row.executeStep()) arms.push_back(read_arm(row));
    return arms;
  });
}

std::vector<CellRecord> Store::cells(std::int64_t experiment_id) const {
  return with_store_errors(path_, [&] {
    std::vector<CellRecord> cells;
    SQLite::Statement row(
        *database_,
        "SELECT id, hash, group_hash, position, arm, workload, workload_parameters, regime,"
        " placement, pool_bytes, working_set_bytes, ratio, clients FROM cell"
        " WHERE experiment_id = ? ORDER BY position, id");
    row.bind(1, experiment_id);
    while (row.executeStep()) cells.push_back(read_cell(row));
    return cells;
  });
}

std::vector<RunRecord> Store::runs(std::int64_t experiment_id) const {
  return read_runs(experiment_id, fmt::format("run.repetition <> {}", kDriftControl));
}

std::vector<RunRecord> Store::drift_controls(std::int64_t experiment_id) const {
  return read_runs(experiment_id, fmt::format("run.repetition = {}", kDriftControl));
}

std::vector<RunRecord> Store::read_runs(std::int64_t experiment_id,
                                        const std::string& condition) const {
  return with_store_errors(path_, [&] {
    // One snapshot: a writer may add a run between two of these statements.
    SQLite::Transaction transaction(*database_);
    std::vector<RunRecord> runs;
    SQLite::Statement row(
        *database_,
        "SELECT run.id, cell_id, repetition, run_order, block, block_position, seed, status,"
        " reason, started_at, duration_seconds, addition FROM run JOIN cell ON cell.id = "
        "run.cell_id"
        " WHERE cell.experiment_id = ? AND " +
            condition + " ORDER BY run.id");
    row.bind(1, experiment_id);
    while (row.executeStep()) runs.push_back(read_run(row));
    RunDetails(*database_, experiment_id, condition, runs).read();
    return runs;
  });
}

std::vector<SampleRecord> Store::samples(std::int64_t run_id) const {
  return with_store_errors(path_, [&] {
    std::vector<SampleRecord> samples;
    SQLite::Statement row(*database_,
                          "SELECT t, metric, value FROM sample WHERE run_id = ? ORDER BY id");
    row.bind(1, run_id);
    while (row.executeStep()) {
      samples.push_back(
          {row.getColumn(0).getDouble(), row.getColumn(1).getString(),
           to_optional(row.getColumn(2)).value_or(std::numeric_limits<double>::quiet_NaN())});
    }
    return samples;
  });
}

std::vector<ArtifactRecord> Store::artifacts(std::int64_t run_id) const {
  return with_store_errors(path_, [&] {
    std::vector<ArtifactRecord> artifacts;
    SQLite::Statement row(
        *database_, "SELECT name, size_bytes, bytes FROM artifact WHERE run_id = ? ORDER BY id");
    row.bind(1, run_id);
    while (row.executeStep()) {
      artifacts.push_back(read_artifact(path_, row));
    }
    return artifacts;
  });
}

std::vector<MedianRecord> Store::medians(std::int64_t experiment_id) const {
  return with_store_errors(path_, [&] {
    std::vector<MedianRecord> medians;
    SQLite::Statement row(*database_,
                          "SELECT cell_id, metric, runs, median, minimum, maximum FROM median"
                          " WHERE experiment_id = ? ORDER BY cell_id, metric");
    row.bind(1, experiment_id);
    while (row.executeStep()) {
      medians.push_back({row.getColumn(0).getInt64(), row.getColumn(1).getString(),
                         row.getColumn(2).getInt(), to_optional(row.getColumn(3)),
                         to_optional(row.getColumn(4)), to_optional(row.getColumn(5))});
    }
    return medians;
  });
}

}  // namespace numabench
