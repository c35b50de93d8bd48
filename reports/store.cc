#include "reports/store.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "hosts/error.h"
#include "reports/compression.h"
#include "reports/store_file.h"

namespace numabench {
namespace {

/// SQLite's integers are signed; no size of ours comes near the limit.
std::int64_t to_integer(std::uint64_t size) {
  if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    throw Error(ErrorKind::kInternal, fmt::format("{} bytes do not fit into the store", size));
  }
  return static_cast<std::int64_t>(size);
}

struct Blob {
  const std::string& bytes;
};

template <typename T>
void bind_one(SQLite::Statement& statement, int index, const T& value) {
  statement.bind(index, value);
}

template <typename T>
void bind_one(SQLite::Statement& statement, int index, const std::optional<T>& value) {
  if (value) statement.bind(index, *value);
}

void bind_one(SQLite::Statement& statement, int index, const Blob& blob) {
  statement.bind(index, blob.bytes.data(), static_cast<int>(blob.bytes.size()));
}

/// Executes `statement` with `values` for its parameters, NULL for an optional without value.
template <typename... Values>
void insert(SQLite::Statement& statement, const Values&... values) {
  statement.reset();
  statement.clearBindings();
  int index = 0;
  (bind_one(statement, ++index, values), ...);
  statement.exec();
}

/// Writes what belongs to one run; lives as long as its transaction.
class RunWriter {
 public:
  RunWriter(SQLite::Database& database, std::int64_t run_id)
      : database_(database),
        run_id_(run_id),
        metric_(database, "INSERT INTO metric VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING") {}

  void write(const RunRecord& run) {
    write_values(run.values);
    write_samples(run.samples);
    write_events(run.events);
    write_placement_proofs(run.placement_proofs);
    write_pool_memory(run.pool_memory);
    write_artifacts(run.artifacts);
  }

 private:
  /// A metric is described where it is first used.
  void describe(const std::string& name) {
    const Metric* metric = find_metric(name);
    if (metric == nullptr) {
      throw Error(ErrorKind::kInternal, fmt::format("metric '{}' is not in the catalogue", name));
    }
    insert(metric_, metric->name, metric->unit, to_string(metric->better), metric->description);
  }

  /// SQLite has no NaN and JSON no infinity: such a number was not measured.
  void write_values(const std::vector<MetricValue>& values) {
    SQLite::Statement statement(database_, "INSERT INTO value VALUES (?, ?, ?, ?)");
    for (const MetricValue& given : values) {
      const bool finite = !given.value || std::isfinite(*given.value);
      const MetricValue value =
          finite ? given : MetricValue::absent(given.metric, "not a finite number");
      describe(value.metric);
      const auto reason = value.value ? std::nullopt : std::optional(value.reason);
      insert(statement, run_id_, value.metric, value.value, reason);
    }
  }

  void write_samples(const std::vector<SampleRecord>& samples) {
    SQLite::Statement statement(
        database_, "INSERT INTO sample (run_id, t, metric, value) VALUES (?, ?, ?, ?)");
    for (const SampleRecord& sample : samples) {
      describe(sample.metric);
      insert(statement, run_id_, sample.t_seconds, sample.metric, sample.value);
    }
  }

  void write_events(const std::vector<EventRecord>& events) {
    SQLite::Statement statement(
        database_, "INSERT INTO event (run_id, severity, text, t) VALUES (?, ?, ?, ?)");
    for (const EventRecord& event : events) {
      insert(statement, run_id_, event.severity, event.text, event.t_seconds);
    }
  }

  void write_placement_proofs(const std::vector<PlacementProofRecord>& proofs) {
    SQLite::Statement statement(database_,
                                "INSERT INTO placement_proof (run_id, role, pid, expected, "
                                "observed, differs, looks, cpu_migrations, cpu_migrations_reason) "
                                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const PlacementProofRecord& proof : proofs) {
      insert(statement, run_id_, proof.role, proof.pid, proof.expected, proof.observed,
             proof.differs, proof.looks, proof.cpu_migrations, proof.cpu_migrations_reason);
    }
  }

  void write_pool_memory(const std::vector<PoolMemoryRecord>& memory) {
    SQLite::Statement statement(
        database_,
        "INSERT INTO pool_memory (run_id, moment, node, page_bytes, pages) VALUES (?, ?, ?, ?, ?)");
    for (const PoolMemoryRecord& record : memory) {
      insert(statement, run_id_, to_string(record.moment), record.node,
             to_integer(record.page_bytes), to_integer(record.pages));
    }
  }

  void write_artifacts(const std::vector<ArtifactRecord>& artifacts) {
    SQLite::Statement statement(
        database_, "INSERT INTO artifact (run_id, name, size_bytes, bytes) VALUES (?, ?, ?, ?)");
    for (const ArtifactRecord& artifact : artifacts) {
      const std::string stored = compress(artifact.bytes);
      insert(statement, run_id_, artifact.name, to_integer(artifact.bytes.size()), Blob{stored});
    }
  }

  SQLite::Database& database_;
  std::int64_t run_id_;
  SQLite::Statement metric_;
};

std::int64_t insert_experiment(SQLite::Database& database, const ExperimentRecord& experiment) {
  SQLite::Statement statement(
      database,
      "INSERT INTO experiment (name, engine, baseline_arm, source_text, expanded_text, config_hash,"
      " seed, runs_per_cell, smoke, scale, notes, started_at, software, host_id)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert(statement, experiment.name, experiment.engine, experiment.baseline_arm,
         experiment.source_text, experiment.expanded_text, experiment.config_hash,
         std::to_string(experiment.seed), experiment.runs_per_cell, experiment.smoke ? 1 : 0,
         experiment.scale, experiment.notes, experiment.started_at, experiment.software,
         experiment.host_id);
  return database.getLastInsertRowid();
}

void insert_arms(SQLite::Database& database, std::int64_t experiment_id,
                 const std::vector<ArmRecord>& arms) {
  SQLite::Statement statement(
      database,
      "INSERT INTO arm (experiment_id, name, description, definition, build_json, series,"
      " series_position, copy_of) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  for (const ArmRecord& arm : arms) {
    insert(statement, experiment_id, arm.name, arm.description, arm.definition, arm.build_json,
           arm.series, arm.series_position, arm.copy_of);
  }
}

/// Returns the ids of the cells, in their order.
std::vector<std::int64_t> insert_cells(SQLite::Database& database, std::int64_t experiment_id,
                                       const std::vector<CellRecord>& cells) {
  SQLite::Statement statement(
      database,
      "INSERT INTO cell (experiment_id, hash, group_hash, position, arm, workload,"
      " workload_parameters, regime, placement, pool_bytes, working_set_bytes, ratio, clients)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  std::vector<std::int64_t> ids;
  for (const CellRecord& cell : cells) {
    insert(statement, experiment_id, cell.hash, cell.group, cell.position, cell.arm, cell.workload,
           cell.workload_parameters, cell.regime, cell.placement, to_integer(cell.pool_bytes),
           to_integer(cell.working_set_bytes), cell.ratio, cell.clients);
    ids.push_back(database.getLastInsertRowid());
  }
  return ids;
}

std::int64_t insert_run(SQLite::Database& database, const RunRecord& run) {
  const auto reason = run.status == RunStatus::kOk ? std::nullopt : std::optional(run.reason);
  SQLite::Statement statement(
      database,
      "INSERT INTO run (cell_id, repetition, run_order, block, block_position, seed, status,"
      " reason, started_at, duration_seconds, addition) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert(statement, run.cell_id, run.repetition, run.run_order, run.block, run.block_position,
         std::to_string(run.seed), to_string(run.status), reason, run.started_at,
         run.duration_seconds, run.addition);
  return database.getLastInsertRowid();
}

}  // namespace

std::string to_string(RunStatus status) {
  switch (status) {
    case RunStatus::kOk:
      return "ok";
    case RunStatus::kFailed:
      return "failed";
    case RunStatus::kVoid:
      return "void";
    case RunStatus::kInterrupted:
      break;
  }
  return "interrupted";
}

std::string to_string(PoolMemoryRecord::Moment moment) {
  return moment == PoolMemoryRecord::Moment::kBefore ? "before" : "after";
}

Store::Store(std::string path) : path_(std::move(path)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const std::string& path, Mode mode) {
  Store store(path);
  store.database_ =
      mode == Mode::kReadWrite ? open_store_for_writing(path) : open_store_for_reading(path);
  return store;
}

std::int64_t Store::add_host(const HostRecord& host) {
  return with_store_errors(path_, [&] {
    SQLite::Statement statement(
        *database_, "INSERT INTO host (hostname, snapshot_json, topology_xml) VALUES (?, ?, ?)");
    insert(statement, host.hostname, host.snapshot_json, host.topology_xml);
    return std::int64_t{database_->getLastInsertRowid()};
  });
}

std::int64_t Store::add_experiment(const ExperimentRecord& experiment,
                                   const std::vector<ArmRecord>& arms,
                                   std::vector<CellRecord>& cells) {
  return with_store_errors(path_, [&] {
    SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
    const std::int64_t id = insert_experiment(*database_, experiment);
    insert_arms(*database_, id, arms);
    const std::vector<std::int64_t> cell_ids = insert_cells(*database_, id, cells);
    transaction.commit();
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i].id = cell_ids[i];
    return id;
  });
}

std::int64_t Store::add_run(const RunRecord& run) {
  return with_store_errors(path_, [&] {
    SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
    const std::int64_t id = insert_run(*database_, run);
    RunWriter(*database_, id).write(run);
    transaction.commit();
    return id;
  });
}

}  // namespace numabench
