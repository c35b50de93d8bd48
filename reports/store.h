// The results store: one SQLite file that keeps every run of every experiment for ever.
//
// Start here: `Store::open()`, `add_experiment()`, then `add_run()` once per run: one transaction
// each, so that whatever happens next the run is kept. Reports use the read functions; nothing else
// touches the file. The schema is reports/migrations/*.sql, its words are DESIGN's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reports/metric.h"

namespace SQLite {
class Database;
}

namespace numabench {

/// One experiment as stored.
struct ExperimentRecord {
  std::int64_t id = 0;
  std::string name;
  std::string engine;
  std::string baseline_arm;
  std::string source_text;    ///< the config as its author wrote it
  std::string expanded_text;  ///< canonical YAML with every value resolved; parses to the same plan
  std::string config_hash;    ///< SHA-256 of expanded_text
  std::uint64_t seed = 0;
  int runs_per_cell = 3;  ///< as planned
  bool smoke = false;     ///< tiny sizes: refused in comparisons with others
  double scale = 1;       ///< what --scale-to-host multiplied every size by
  std::string notes;
  std::string started_at;  ///< UTC, ISO 8601
  std::string software;    ///< version, commit, build type and compiler of numabench
  std::int64_t host_id = 0;
};

struct HostRecord {
  std::string hostname;
  std::string snapshot_json;
  std::string topology_xml;
};

struct ArmRecord {
  std::string name;
  std::string description;
  std::string definition;  ///< canonical text of everything that makes the arm what it is
  /// How its server was built: runner/arms/arm_build.h. Absent for an arm without sources.
  std::optional<std::string> build_json = {};
  std::string series = {};  ///< of an arm of `series: each-prefix`, the name it was written under …
  int series_position = 0;   ///< … and how many of its patches this arm has; else 0
  std::string copy_of = {};  ///< the arm that this is a second copy of (A/A); else empty
};

/// The typed factors of a cell.
struct CellRecord {
  std::int64_t id = 0;
  std::string hash;   ///< 64 hex digits; the first 8 are shown
  std::string group;  ///< hash of everything but the arm: cells to be compared share it
  int position = 0;   ///< in the plan
  std::string arm;
  std::string workload;             ///< its label
  std::string workload_parameters;  ///< canonical text
  std::string regime;  ///< none, resident, page-cache, real-io: what a miss is answered from
  std::string placement;
  std::uint64_t pool_bytes = 0;
  std::uint64_t working_set_bytes = 0;  ///< measured: every page of the dataset
  double ratio = 0;                     ///< as asked
  int clients = 0;
};

enum class RunStatus { kOk, kFailed, kVoid, kInterrupted };
std::string to_string(RunStatus status);

struct SampleRecord {
  double t_seconds = 0;  ///< since the start of the window, monotonic clock
  std::string metric;
  double value = 0;  ///< NaN: could not be measured at this time
};

struct EventRecord {
  std::string severity;  ///< "info", "warning", "error"
  std::string text;
  std::optional<double> t_seconds = {};  ///< since the start of the window, of what has a time
};

/// Where one process of a run was, beside where it had to be.
struct PlacementProofRecord {
  std::string role;
  std::int64_t pid = 0;
  std::string expected;
  std::string observed;      ///< when it was looked at last, or when it was first elsewhere
  std::string differs = {};  ///< what is not as expected, in words; empty when all is
  int looks = 1;             ///< how often it was read back
  std::optional<std::int64_t> cpu_migrations = {};  ///< between the first and the last look
  std::string cpu_migrations_reason = {};           ///< why there is no number
};

/// Pages of one size that the pool had on one node.
struct PoolMemoryRecord {
  enum class Moment { kBefore, kAfter };  ///< the measured window
  Moment moment = Moment::kAfter;
  int node = 0;
  std::uint64_t page_bytes = 0;
  std::uint64_t pages = 0;

  bool operator==(const PoolMemoryRecord&) const = default;
};
std::string to_string(PoolMemoryRecord::Moment moment);  ///< "before", "after"

struct ArtifactRecord {
  std::string name;
  std::string bytes;  ///< uncompressed here; the store compresses
};

/// The repetition of an experiment's first run that was done once more at its end, to show drift:
/// no repetition of its cell, and in no median.
inline constexpr int kDriftControl = 0;

struct RunRecord {
  std::int64_t id = 0;
  std::int64_t cell_id = 0;
  int repetition = 1;  ///< 1-based; or kDriftControl
  int run_order = 0;   ///< position in the whole plan, 1-based
  int block = 0;
  int block_position = 0;
  int addition = 0;  ///< 0: of the plan; else which round of --add-runs added it
  std::uint64_t seed = 0;
  RunStatus status = RunStatus::kOk;
  std::string reason;           ///< set unless kOk
  std::string started_at;       ///< UTC, ISO 8601, for people
  double duration_seconds = 0;  ///< monotonic, whole run with fill and warm-up
  std::vector<MetricValue> values;
  std::vector<SampleRecord> samples;
  std::vector<EventRecord> events;
  std::vector<PlacementProofRecord> placement_proofs;
  std::vector<PoolMemoryRecord> pool_memory;
  std::vector<ArtifactRecord> artifacts;
};

/// One row of the view `median`: of the runs of a cell that count (status ok) and have a value.
struct MedianRecord {
  std::int64_t cell_id = 0;
  std::string metric;
  int runs = 0;  ///< with a value; when 0, the rest is absent
  std::optional<double> median;
  std::optional<double> minimum;
  std::optional<double> maximum;
};

class Store {
 public:
  enum class Mode { kReadWrite, kReadOnly };

  /// kReadWrite creates the file and its folder, and applies migrations in one transaction; WAL
  /// where the filesystem can, a DELETE journal where it cannot. Throws Error(kUsage) when the file
  /// is absent (kReadOnly), is not a numabench store or is of a newer schema; Error(kPreflight)
  /// when the filesystem has no working locks or the file is read-only, naming a remedy.
  static Store open(const std::string& path, Mode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::string& path() const { return path_; }

  std::int64_t add_host(const HostRecord& host);
  /// Stores the experiment with its arms and cells in one transaction; returns its new id and sets
  /// the ids of `cells`.
  std::int64_t add_experiment(const ExperimentRecord& experiment,
                              const std::vector<ArmRecord>& arms, std::vector<CellRecord>& cells);
  /// One transaction, durable when it returns; returns the id. A value that is not finite is stored
  /// as absent. Throws Error(kRun) when the disk is full or fails or another process keeps the file
  /// locked; Error(kInternal) for a metric that is not in the catalogue, and when the cell has this
  /// repetition with status ok already.
  std::int64_t add_run(const RunRecord& run);

  std::vector<ExperimentRecord> experiments() const;  ///< ascending ids
  /// nullopt when there is none with this id.
  std::optional<ExperimentRecord> experiment(std::int64_t id) const;
  std::optional<HostRecord> host(std::int64_t id) const;
  std::vector<ArmRecord> arms(std::int64_t experiment_id) const;
  std::vector<CellRecord> cells(std::int64_t experiment_id) const;  ///< by position
  /// With values (by name), events and proofs; samples and artifacts are left out. By order of
  /// execution.
  std::vector<RunRecord> runs(std::int64_t experiment_id) const;
  /// The same of the drift controls, which runs() leaves out.
  std::vector<RunRecord> drift_controls(std::int64_t experiment_id) const;
  std::vector<SampleRecord> samples(std::int64_t run_id) const;
  /// Throws Error(kUsage) for one that is damaged.
  std::vector<ArtifactRecord> artifacts(std::int64_t run_id) const;
  std::vector<MedianRecord> medians(std::int64_t experiment_id) const;

 private:
  explicit Store(std::string path);
  std::vector<RunRecord> read_runs(std::int64_t experiment_id, const std::string& condition) const;
  std::string path_;
  std::unique_ptr<SQLite::Database> database_;
};

}  // namespace numabench
