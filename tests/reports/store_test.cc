#include "reports/store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "hosts/error.h"
#include "hosts/process.h"
#include "tests/reports/store_fixture.h"

namespace numabench {
namespace {

using test::add_cells;
using test::run_record;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kHugeSeed = std::numeric_limits<std::uint64_t>::max() - 6;
const std::string kUnicode = "n\u00f4de \u2013 \U0001F40C 'quoted' \"twice\"; DROP TABLE run; --\n";

class StoreTest : public test::StoreFolder {
 protected:
  /// What the sqlite3 program prints.
  std::string sqlite3(const std::string& sql) const {
    const CommandResult result = run_command({"sqlite3", "-readonly", path_, sql});
    EXPECT_TRUE(result.ok()) << result.err;
    return result.out;
  }
};

ExperimentRecord full_experiment(std::int64_t host_id) {
  ExperimentRecord experiment;
  experiment.name = "name " + kUnicode;
  experiment.engine = "embedded";
  experiment.baseline_arm = "stock";
  experiment.source_text = "source: " + kUnicode;
  experiment.expanded_text = "expanded: " + kUnicode;
  experiment.config_hash = "cafe";
  experiment.seed = kHugeSeed;
  experiment.runs_per_cell = 5;
  experiment.smoke = true;
  experiment.notes = "notes";
  experiment.started_at = "2026-01-02T03:04:05Z";
  experiment.software = "numabench 0.1.0";
  experiment.host_id = host_id;
  return experiment;
}

CellRecord full_cell() {
  CellRecord cell;
  cell.hash = "hash";
  cell.group = "group";
  cell.position = 7;
  cell.arm = "stock";
  cell.workload = "zipfian s=1.1";
  cell.workload_parameters = "s: 1.1";
  cell.placement = "spread";
  cell.regime = "page-cache";
  cell.pool_bytes = 63'000'000'000'000;
  cell.working_set_bytes = 72'450'000'000'001;
  cell.ratio = 1.15;
  cell.clients = 1024;
  return cell;
}

RunRecord full_run(std::int64_t cell_id) {
  RunRecord run;
  run.cell_id = cell_id;
  run.repetition = 3;
  run.run_order = 12;
  run.block = 4;
  run.block_position = 2;
  run.seed = kHugeSeed - 1;
  run.status = RunStatus::kVoid;
  run.reason = "placement escaped " + kUnicode;
  run.started_at = "2026-01-02T03:04:06Z";
  run.duration_seconds = 0.1;
  run.values = {MetricValue::absent("hit_pct", "no accesses " + kUnicode),
                MetricValue::of("tps", 0.1 + 0.2)};
  run.samples = {{0.5, "tps", 1e300}, {0.25, "tps", -0.0}};
  run.events = {{"warning", kUnicode}, {"info", ""}};
  run.placement_proofs = {
      {"client", 4'194'304, "cpus 0-3", "cpus 0-7", "runs elsewhere " + kUnicode, 12, 3},
      {"pool", 1, "free", "default", "", 1, {}, "no /proc/PID/sched"}};
  run.pool_memory = {{PoolMemoryRecord::Moment::kBefore, 0, 4096, 17'000'000'000},
                     {PoolMemoryRecord::Moment::kAfter, 3, 2'097'152, 5}};
  run.artifacts = {{"log", kUnicode}};
  return run;
}

TEST_F(StoreTest, KeepsEveryFieldOfAnExperiment) {
  Store store = open_for_writing();
  const std::int64_t host_id = store.add_host({"host " + kUnicode, "{\"thp\": 1}", "<topology/>"});
  const ExperimentRecord written = full_experiment(host_id);
  std::vector<CellRecord> cells = {full_cell()};
  const std::int64_t id =
      store.add_experiment(written, {{"stock", "description " + kUnicode, "definition"}}, cells);

  const ExperimentRecord read = open_for_reading().experiment(id).value();
  EXPECT_EQ(read.id, id);
  EXPECT_EQ(read.name, written.name);
  EXPECT_EQ(read.engine, written.engine);
  EXPECT_EQ(read.baseline_arm, written.baseline_arm);
  EXPECT_EQ(read.source_text, written.source_text);
  EXPECT_EQ(read.expanded_text, written.expanded_text);
  EXPECT_EQ(read.config_hash, written.config_hash);
  EXPECT_EQ(read.seed, written.seed);
  EXPECT_EQ(read.runs_per_cell, written.runs_per_cell);
  EXPECT_EQ(read.smoke, written.smoke);
  EXPECT_EQ(read.notes, written.notes);
  EXPECT_EQ(read.started_at, written.started_at);
  EXPECT_EQ(read.software, written.software);
  EXPECT_EQ(read.host_id, host_id);

  const HostRecord host = store.host(host_id).value();
  EXPECT_EQ(host.hostname, "host " + kUnicode);
  EXPECT_EQ(host.snapshot_json, "{\"thp\": 1}");
  EXPECT_EQ(host.topology_xml, "<topology/>");

  const std::vector<ArmRecord> arms = store.arms(id);
  ASSERT_EQ(arms.size(), 1U);
  EXPECT_EQ(arms[0].name, "stock");
  EXPECT_EQ(arms[0].description, "description " + kUnicode);
  EXPECT_EQ(arms[0].definition, "definition");
}

TEST_F(StoreTest, KeepsEveryFieldOfACell) {
  Store store = open_for_writing();
  const CellRecord written = full_cell();
  std::vector<CellRecord> cells = {written};
  const std::int64_t id = store.add_experiment(full_experiment(store.add_host({"h", "{}", ""})),
                                               {{"stock", "", ""}}, cells);

  const std::vector<CellRecord> read = open_for_reading().cells(id);
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].id, cells[0].id);
  EXPECT_EQ(read[0].hash, written.hash);
  EXPECT_EQ(read[0].group, written.group);
  EXPECT_EQ(read[0].position, written.position);
  EXPECT_EQ(read[0].arm, written.arm);
  EXPECT_EQ(read[0].workload, written.workload);
  EXPECT_EQ(read[0].workload_parameters, written.workload_parameters);
  EXPECT_EQ(read[0].placement, written.placement);
  EXPECT_EQ(read[0].regime, written.regime);
  EXPECT_EQ(read[0].pool_bytes, written.pool_bytes);
  EXPECT_EQ(read[0].working_set_bytes, written.working_set_bytes);
  EXPECT_EQ(read[0].ratio, written.ratio);
  EXPECT_EQ(read[0].clients, written.clients);
}

TEST_F(StoreTest, KeepsEveryFieldOfARun) {
  Store store = open_for_writing();
  const CellRecord cell = add_cells(store, {"stock"}, {"g"})[0];
  const RunRecord written = full_run(cell.id);
  const std::int64_t id = store.add_run(written);

  const Store reader = open_for_reading();
  const std::vector<RunRecord> runs = reader.runs(1);
  ASSERT_EQ(runs.size(), 1U);
  const RunRecord& read = runs[0];
  EXPECT_EQ(read.id, id);
  EXPECT_EQ(read.cell_id, cell.id);
  EXPECT_EQ(read.repetition, written.repetition);
  EXPECT_EQ(read.run_order, written.run_order);
  EXPECT_EQ(read.block, written.block);
  EXPECT_EQ(read.block_position, written.block_position);
  EXPECT_EQ(read.seed, written.seed);
  EXPECT_EQ(read.status, written.status);
  EXPECT_EQ(read.reason, written.reason);
  EXPECT_EQ(read.started_at, written.started_at);
  EXPECT_EQ(read.duration_seconds, written.duration_seconds);
}

TEST_F(StoreTest, KeepsEverythingMeasuredInARun) {
  Store store = open_for_writing();
  const CellRecord cell = add_cells(store, {"stock"}, {"g"})[0];
  const RunRecord written = full_run(cell.id);
  const std::int64_t id = store.add_run(written);

  const Store reader = open_for_reading();
  const RunRecord read = reader.runs(1).at(0);
  ASSERT_EQ(read.values.size(), 2U);
  EXPECT_EQ(read.values[0].metric, "hit_pct");
  EXPECT_EQ(read.values[0].value, std::nullopt);
  EXPECT_EQ(read.values[0].reason, written.values[0].reason);
  EXPECT_EQ(read.values[1].metric, "tps");
  EXPECT_EQ(read.values[1].value, 0.1 + 0.2);
  EXPECT_EQ(read.values[1].reason, "");
  ASSERT_EQ(read.events.size(), 2U);
  EXPECT_EQ(read.events[0].severity, "warning");
  EXPECT_EQ(read.events[0].text, kUnicode);
  EXPECT_EQ(read.events[1].severity, "info");
  ASSERT_EQ(read.placement_proofs.size(), 2U);
  EXPECT_EQ(read.placement_proofs[0].role, "client");
  EXPECT_EQ(read.placement_proofs[0].pid, 4'194'304);
  EXPECT_EQ(read.placement_proofs[0].expected, "cpus 0-3");
  EXPECT_EQ(read.placement_proofs[0].observed, "cpus 0-7");
  EXPECT_EQ(read.placement_proofs[0].differs, "runs elsewhere " + kUnicode);
  EXPECT_EQ(read.placement_proofs[0].looks, 12);
  EXPECT_EQ(read.placement_proofs[0].cpu_migrations, 3);
  EXPECT_EQ(read.placement_proofs[1].cpu_migrations, std::nullopt);
  EXPECT_EQ(read.placement_proofs[1].cpu_migrations_reason, "no /proc/PID/sched");
  EXPECT_EQ(read.pool_memory, written.pool_memory);

  const std::vector<SampleRecord> samples = reader.samples(id);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].t_seconds, 0.5) << "samples keep their order";
  EXPECT_EQ(samples[0].metric, "tps");
  EXPECT_EQ(samples[0].value, 1e300);
  EXPECT_EQ(samples[1].t_seconds, 0.25);

  const std::vector<ArtifactRecord> artifacts = reader.artifacts(id);
  ASSERT_EQ(artifacts.size(), 1U);
  EXPECT_EQ(artifacts[0].name, "log");
  EXPECT_EQ(artifacts[0].bytes, kUnicode);
}

TEST_F(StoreTest, ReadsOnlyWhatBelongsToTheExperimentAsked) {
  Store store = open_for_writing();
  const CellRecord first = add_cells(store, {"stock"}, {"g"})[0];
  const CellRecord second = add_cells(store, {"stock"}, {"g"})[0];
  store.add_run(run_record(first.id, 1, {MetricValue::of("tps", 1)}));
  store.add_run(run_record(second.id, 1, {MetricValue::of("tps", 2)}));
  ASSERT_EQ(store.runs(2).size(), 1U);
  EXPECT_EQ(store.runs(2)[0].values.at(0).value, 2);
  ASSERT_EQ(store.medians(2).size(), 1U);
  EXPECT_EQ(store.medians(2)[0].median, 2);
}

TEST_F(StoreTest, UnknownIdsAreAbsentNotEmptyRecords) {
  const Store store = open_for_writing();
  EXPECT_FALSE(store.experiment(1).has_value());
  EXPECT_FALSE(store.host(1).has_value());
  EXPECT_THAT(store.experiments(), IsEmpty());
  EXPECT_THAT(store.runs(1), IsEmpty());
}

// Requirement B 36: a rerun under the same name deletes nothing.
TEST_F(StoreTest, TheSameExperimentAgainIsAnotherOne) {
  std::int64_t first_cell = 0;
  {
    Store store = open_for_writing();
    first_cell = add_cells(store, {"stock"}, {"g"})[0].id;
    store.add_run(run_record(first_cell, 1, {MetricValue::of("tps", 5)}));
  }
  Store store = open_for_writing();
  const std::int64_t second_cell = add_cells(store, {"stock"}, {"g"})[0].id;
  EXPECT_NE(second_cell, first_cell);
  const std::vector<ExperimentRecord> experiments = store.experiments();
  ASSERT_EQ(experiments.size(), 2U);
  EXPECT_EQ(experiments[0].name, experiments[1].name);
  EXPECT_LT(experiments[0].id, experiments[1].id);
  ASSERT_EQ(store.runs(experiments[0].id).size(), 1U);
  EXPECT_EQ(store.runs(experiments[0].id)[0].values.at(0).value, 5);
}

TEST_F(StoreTest, ARepetitionThatFailedIsRepeatedAndBothAreKept) {
  Store store = open_for_writing();
  const std::int64_t cell = add_cells(store, {"stock"}, {"g"})[0].id;
  RunRecord failed = run_record(cell, 1);
  failed.status = RunStatus::kFailed;
  failed.reason = "client died";
  store.add_run(failed);
  store.add_run(run_record(cell, 1));
  EXPECT_EQ(store.runs(1).size(), 2U);
}

TEST_F(StoreTest, ARepetitionCountsOnce) {
  Store store = open_for_writing();
  const std::int64_t cell = add_cells(store, {"stock"}, {"g"})[0].id;
  store.add_run(run_record(cell, 1));
  EXPECT_THROW(store.add_run(run_record(cell, 1)), Error);
  EXPECT_EQ(store.runs(1).size(), 1U);
}

TEST_F(StoreTest, ARunThatCannotBeStoredWholeLeavesNothing) {
  Store store = open_for_writing();
  const std::int64_t cell = add_cells(store, {"stock"}, {"g"})[0].id;
  RunRecord run = run_record(cell, 1, {MetricValue::of("tps", 1)});
  run.events = {{"shouting", "not a severity"}};
  EXPECT_THROW(store.add_run(run), Error);
  EXPECT_THROW(store.add_run(run_record(cell, 1, {MetricValue::of("no_such_metric", 1)})), Error);
  EXPECT_THROW(store.add_run(run_record(cell + 100, 1)), Error) << "no such cell";
  EXPECT_EQ(sqlite3("SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM value)"), "0|0\n");
}

TEST_F(StoreTest, ANumberThatIsNotFiniteWasNotMeasured) {
  Store store = open_for_writing();
  const std::int64_t cell = add_cells(store, {"stock"}, {"g"})[0].id;
  store.add_run(run_record(cell, 1,
                           {MetricValue::of("hit_pct", std::nan("")),
                            MetricValue::of("tps", std::numeric_limits<double>::infinity())}));
  const RunRecord read = store.runs(1).at(0);
  ASSERT_EQ(read.values.size(), 2U);
  for (const MetricValue& value : read.values) {
    EXPECT_EQ(value.value, std::nullopt);
    EXPECT_THAT(value.reason, HasSubstr("finite"));
  }
}

TEST_F(StoreTest, AGapInASeriesStaysAGap) {
  Store store = open_for_writing();
  RunRecord run = run_record(add_cells(store, {"stock"}, {"g"})[0].id, 1);
  run.samples = {{1, "tps", std::nan("")}};
  const std::int64_t id = store.add_run(run);
  EXPECT_TRUE(std::isnan(store.samples(id).at(0).value));
  EXPECT_EQ(sqlite3("SELECT value IS NULL FROM sample"), "1\n");
}

TEST_F(StoreTest, DescribesEveryMetricThatItHolds) {
  Store store = open_for_writing();
  const std::int64_t cell = add_cells(store, {"stock"}, {"g"})[0].id;
  store.add_run(run_record(cell, 1, {MetricValue::of("tps", 1), MetricValue::of("tail", 9)}));
  store.add_run(run_record(cell, 2, {MetricValue::of("pool_bytes_node3", 1)}));
  EXPECT_EQ(sqlite3("SELECT name, unit, better FROM metric ORDER BY name"),
            "pool_bytes_node3|B|none\ntail||lower\ntps|1/s|higher\n");
}

TEST_F(StoreTest, SeedsAreReadableByOtherPrograms) {
  Store store = open_for_writing();
  std::vector<CellRecord> cells;
  store.add_experiment(full_experiment(store.add_host({"h", "{}", ""})), {}, cells);
  EXPECT_EQ(sqlite3("SELECT seed FROM experiment"), "18446744073709551609\n");
}

/// Bytes of every value, of which none repeats enough to be compressed.
std::string incompressible(std::size_t size) {
  std::mt19937_64 random(7);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST_F(StoreTest, KeepsArtifactsCompressedByteForByte) {
  Store store = open_for_writing();
  RunRecord run = run_record(add_cells(store, {"stock"}, {"g"})[0].id, 1);
  run.artifacts = {{"log", std::string(1'000'000, 'x')},
                   {"empty", ""},
                   {"one", "1"},
                   {"zeroes", std::string(100, '\0')},
                   {"noise", incompressible(100'000)}};
  const std::int64_t id = store.add_run(run);
  const std::vector<ArtifactRecord> read = store.artifacts(id);
  ASSERT_EQ(read.size(), run.artifacts.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].name, run.artifacts[i].name);
    EXPECT_EQ(read[i].bytes, run.artifacts[i].bytes) << read[i].name;
  }
  EXPECT_EQ(sqlite3("SELECT length(bytes) < 2000, size_bytes FROM artifact WHERE name = 'log'"),
            "1|1000000\n");
  EXPECT_EQ(sqlite3("SELECT length(bytes) FROM artifact WHERE name = 'noise'"), "100000\n");
}

TEST_F(StoreTest, ADamagedArtifactIsNotGivenOutAsIfItWereWhole) {
  Store store = open_for_writing();
  RunRecord run = run_record(add_cells(store, {"stock"}, {"g"})[0].id, 1);
  run.artifacts = {{"log", std::string(10'000, 'x')}};
  const std::int64_t id = store.add_run(run);
  SQLite::Database other(path_, SQLite::OPEN_READWRITE);
  for (const char* damage : {"size_bytes = 9999", "bytes = substr(bytes, 1, length(bytes) / 2)",
                             "bytes = zeroblob(length(bytes))"}) {
    other.exec(std::string("UPDATE artifact SET ") + damage);
    EXPECT_THROW(store.artifacts(id), Error) << damage;
  }
}

TEST_F(StoreTest, TheSqliteProgramReadsArtifacts) {
  Store store = open_for_writing();
  RunRecord run = run_record(add_cells(store, {"stock"}, {"g"})[0].id, 1);
  run.artifacts = {{"log", "first line\n" + std::string(100, 'x')}, {"short", "1"}};
  store.add_run(run);
  EXPECT_EQ(sqlite3("SELECT CAST(sqlar_uncompress(bytes, size_bytes) AS TEXT) FROM artifact"),
            "first line\n" + std::string(100, 'x') + "\n1\n");
}

}  // namespace
}  // namespace numabench
