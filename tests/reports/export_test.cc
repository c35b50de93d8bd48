#include "reports/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "hosts/error.h"
#include "hosts/process.h"
#include "tests/reports/store_fixture.h"

namespace numabench {
namespace {

using nlohmann::json;
using test::add_cells;
using test::run_record;
using testing::HasSubstr;

// Doubles that lose something in all but the exact notations.
const std::vector<double> kAwkwardNumbers = {0.1 + 0.2,
                                             1e22,
                                             -0.001,
                                             5e-324,
                                             412332,
                                             9007199254740993.0,
                                             std::numeric_limits<double>::max(),
                                             std::nextafter(1.0, 2.0)};

const std::string kAwkwardText = "comma, \"quote\"\r\nand the next line; \u00f4";

class Export : public test::StoreFolder {
 protected:
  Store store_ = open_for_writing();

  std::string csv() const { return export_csv(store_, 1, {}); }
  json parsed_json() const { return json::parse(export_json(store_, 1, {})); }

  /// Rows as sqlite3's own CSV reader sees them, which takes the header for column names.
  json csv_as_read_by_sqlite3(const std::string& sql) const {
    const std::string file = (folder_ / "export.csv").string();
    std::ofstream(file, std::ios::binary) << csv();
    const CommandResult result =
        run_command({"sqlite3", "-json", ":memory:", ".import --csv " + file + " run", sql});
    EXPECT_TRUE(result.ok()) << result.err;
    return result.out.empty() ? json::array() : json::parse(result.out);
  }
};

TEST_F(Export, CsvIsReadBackByAnotherProgram) {
  const std::vector<CellRecord> cells = add_cells(store_, {"stock", "patched"}, {"g"});
  RunRecord failed = run_record(cells[1].id, 1);
  failed.status = RunStatus::kFailed;
  failed.reason = kAwkwardText;
  failed.seed = std::numeric_limits<std::uint64_t>::max();
  store_.add_run(failed);
  store_.add_run(run_record(cells[0].id, 2,
                            {MetricValue::of("tps", 12.5), MetricValue::absent("tail", "why")}));

  const json rows = csv_as_read_by_sqlite3(
      "SELECT experiment, arm, workload, repetition, seed, status, reason, tps, tail FROM run");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], json::parse(R"({"experiment": "quick", "arm": "stock", "workload": "zipfian",
      "repetition": "2", "seed": "0", "status": "ok", "reason": "", "tps": "12.5", "tail": ""})"));
  EXPECT_EQ(rows[1]["arm"], "patched");
  EXPECT_EQ(rows[1]["status"], "failed");
  EXPECT_EQ(rows[1]["reason"], kAwkwardText);
  EXPECT_EQ(rows[1]["seed"], "18446744073709551615");
  EXPECT_EQ(rows[1]["tps"], "") << "not measured is empty, never 0";
}

TEST_F(Export, NumbersReadBackAsTheSameDoubles) {
  const std::int64_t cell = add_cells(store_, {"stock"}, {"g"})[0].id;
  for (std::size_t i = 0; i < kAwkwardNumbers.size(); ++i) {
    store_.add_run(
        run_record(cell, static_cast<int>(i) + 1, {MetricValue::of("tps", kAwkwardNumbers[i])}));
  }
  const json rows = csv_as_read_by_sqlite3("SELECT tps FROM run");
  const json runs = parsed_json()["cells"][0]["runs"];
  ASSERT_EQ(rows.size(), kAwkwardNumbers.size());
  ASSERT_EQ(runs.size(), kAwkwardNumbers.size());
  for (std::size_t i = 0; i < kAwkwardNumbers.size(); ++i) {
    EXPECT_EQ(std::strtod(rows[i]["tps"].get<std::string>().c_str(), nullptr), kAwkwardNumbers[i]);
    EXPECT_EQ(runs[i]["values"]["tps"].get<double>(), kAwkwardNumbers[i]);
  }
}

std::string header_of(const std::string& csv) { return csv.substr(0, csv.find('\n')); }

TEST_F(Export, MetricsStandInTheOrderOfTheCatalogueAndNodesInThatOfTheirNumbers) {
  const std::int64_t cell = add_cells(store_, {"stock"}, {"g"})[0].id;
  store_.add_run(run_record(cell, 1,
                            {MetricValue::of("pool_bytes_node10", 1),
                             MetricValue::of("pool_bytes_node2", 2), MetricValue::of("tail", 3)}));
  store_.add_run(run_record(cell, 2, {MetricValue::of("tps", 4)}));
  EXPECT_THAT(header_of(csv()),
              testing::EndsWith(",duration_seconds,tps,tail,pool_bytes_node2,pool_bytes_node10"));
}

/// stock as installed, and the second step of a series with a run that was added; a copy of stock.
void write_built_arms(Store& store) {
  ExperimentRecord experiment = test::experiment_record(store.add_host({}));
  experiment.scale = 0.125;
  experiment.software = "numabench 1.0, commit abc";
  ArmRecord step{"patched-2", "", ""};
  step.build_json =
      R"({"source": "git /src 0123abc", "build_id": "77ff", "patches": [{"name": "0001"}]})";
  step.series = "patched";
  step.series_position = 2;
  ArmRecord copy{"stock-aa", "", ""};
  copy.copy_of = "stock";
  copy.build_json = "not { json";
  std::vector<CellRecord> cells = test::cell_records({"stock", "patched-2", "stock-aa"}, {"g"});
  store.add_experiment(experiment, {{"stock", "", ""}, step, copy}, cells);
  for (const CellRecord& cell : cells) {
    RunRecord run = run_record(cell.id, 1, {MetricValue::of("tps", 5)});
    if (cell.arm == "patched-2") run.addition = 3;
    store.add_run(run);
  }
}

TEST_F(Export, CsvSaysWhatWasMeasuredAndInWhichRound) {
  write_built_arms(store_);
  const json rows = csv_as_read_by_sqlite3(
      "SELECT arm, scale, software, copy_of, series, series_position, build_source, build_id, "
      "addition FROM run ORDER BY arm");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], json::parse(R"({"arm": "patched-2", "scale": "0.125",
      "software": "numabench 1.0, commit abc", "copy_of": "", "series": "patched",
      "series_position": "2", "build_source": "git /src 0123abc", "build_id": "77ff",
      "addition": "3"})"));
  EXPECT_EQ(rows[1], json::parse(R"({"arm": "stock", "scale": "0.125",
      "software": "numabench 1.0, commit abc", "copy_of": "", "series": "",
      "series_position": "", "build_source": "", "build_id": "", "addition": "0"})"));
  EXPECT_EQ(rows[2]["copy_of"], "stock");
}

TEST_F(Export, JsonHasTheBuildRecordOfEachArm) {
  write_built_arms(store_);
  const json exported = parsed_json();
  EXPECT_EQ(exported["experiment"]["scale"], 0.125);
  const json& arms = exported["arms"];
  EXPECT_EQ(arms[0]["build"], nullptr);
  EXPECT_EQ(arms[1]["series"], "patched");
  EXPECT_EQ(arms[1]["series_position"], 2);
  EXPECT_EQ(arms[1]["build"]["build_id"], "77ff");
  EXPECT_EQ(arms[1]["build"]["patches"][0]["name"], "0001");
  EXPECT_EQ(arms[2]["copy_of"], "stock");
  EXPECT_EQ(arms[2]["build"], "not { json") << "kept as text";
  EXPECT_EQ(exported["cells"][1]["runs"][0]["addition"], 3);
}

TEST_F(Export, OnlyWantedCellsAreIn) {
  const std::vector<CellRecord> cells = add_cells(store_, {"stock", "patched"}, {"g"});
  store_.add_run(run_record(cells[0].id, 1, {MetricValue::of("tps", 1)}));
  store_.add_run(run_record(cells[1].id, 1, {MetricValue::of("tail", 2)}));
  const auto patched = [](const CellRecord& cell) { return cell.arm == "patched"; };
  const std::string csv = export_csv(store_, 1, patched);
  EXPECT_THAT(csv, HasSubstr(",patched,"));
  EXPECT_THAT(csv, testing::Not(HasSubstr(",stock,")));
  EXPECT_THAT(header_of(csv), testing::Not(HasSubstr("tps"))) << "no run in it has one";
  EXPECT_EQ(json::parse(export_json(store_, 1, patched))["cells"].size(), 1U);
}

TEST_F(Export, AnExperimentWithoutRunsHasAHeaderAndItsCells) {
  add_cells(store_, {"stock", "patched"}, {"g"});
  EXPECT_EQ(csv(), header_of(csv()) + "\n");
  const json exported = parsed_json();
  ASSERT_EQ(exported["cells"].size(), 2U);
  EXPECT_EQ(exported["cells"][0]["runs"], json::array());
}

TEST_F(Export, AnUnknownExperimentIsAUsageError) {
  for (const auto& call : {export_csv, export_json}) {
    EXPECT_THAT([&] { call(store_, 7, {}); },
                testing::Throws<Error>(testing::Property(&Error::kind, ErrorKind::kUsage)));
  }
}

/// Writes one experiment of which every part is filled.
void write_full_experiment(Store& store) {
  ExperimentRecord experiment = test::experiment_record(
      store.add_host({"host", R"({"kernel": "6.1", "cpus": 4})", "<topology/>"}));
  experiment.seed = 18'000'000'000'000'000'001U;
  experiment.notes = kAwkwardText;
  std::vector<CellRecord> cells = test::cell_records({"stock"}, {"g"});
  cells[0].pool_bytes = 4'294'967'296;
  cells[0].ratio = 1.15;
  store.add_experiment(experiment, {{"stock", "as released", "policy: {}"}}, cells);
  RunRecord run = run_record(
      cells[0].id, 1, {MetricValue::of("tps", 5), MetricValue::absent("hit_pct", "no accesses")});
  run.seed = 18'000'000'000'000'000'002U;
  run.events = {{"warning", "fewer than three laps"}};
  run.placement_proofs = {
      {"client", 77, "cpus 0-1", "cpus 0", "runs on CPUs 0 instead of 0-1", 9, {}, "no sched"}};
  run.pool_memory = {{PoolMemoryRecord::Moment::kBefore, 1, 2'097'152, 512}};
  store.add_run(run);
}

TEST_F(Export, JsonHasTheWholeExperiment) {
  write_full_experiment(store_);
  const json exported = parsed_json();
  EXPECT_EQ(exported["experiment"]["name"], "quick");
  EXPECT_EQ(exported["experiment"]["seed"], "18000000000000000001");
  EXPECT_EQ(exported["experiment"]["notes"], kAwkwardText);
  EXPECT_EQ(exported["host"]["snapshot"]["kernel"], "6.1");
  EXPECT_EQ(exported["host"]["topology_xml"], "<topology/>");
  EXPECT_EQ(exported["arms"], json::parse(R"([{"name": "stock", "description": "as released",
                                               "definition": "policy: {}", "copy_of": "",
                                               "series": "", "series_position": null,
                                               "build": null}])"));
  EXPECT_EQ(exported["metrics"][0]["name"], "tps");
  EXPECT_EQ(exported["metrics"][0]["unit"], "1/s");
  EXPECT_EQ(exported["metrics"][0]["better"], "higher");
  const json& cell = exported["cells"][0];
  EXPECT_EQ(cell["arm"], "stock");
  EXPECT_EQ(cell["pool_bytes"], 4'294'967'296);
  EXPECT_EQ(cell["ratio"], 1.15);
}

TEST_F(Export, JsonHasTheWholeRun) {
  write_full_experiment(store_);
  const json run = parsed_json()["cells"][0]["runs"][0];
  EXPECT_EQ(run["seed"], "18000000000000000002");
  EXPECT_EQ(run["status"], "ok");
  EXPECT_EQ(run["values"], json::parse(R"({"tps": 5.0, "hit_pct": null})"));
  EXPECT_EQ(run["reasons"], json::parse(R"({"hit_pct": "no accesses"})"));
  EXPECT_EQ(run["events"],
            json::parse(R"([{"severity": "warning", "text": "fewer than three laps"}])"));
  EXPECT_EQ(run["placement_proofs"], json::parse(R"([{"role": "client", "pid": 77,
                                      "expected": "cpus 0-1", "observed": "cpus 0",
                                      "differs": "runs on CPUs 0 instead of 0-1", "looks": 9,
                                      "cpu_migrations": null,
                                      "cpu_migrations_reason": "no sched"}])"));
  EXPECT_EQ(run["pool_memory"], json::parse(R"([{"moment": "before", "node": 1,
                                                 "page_bytes": 2097152, "pages": 512}])"));
}

// What a crashed program printed ends up in reasons and events.
TEST_F(Export, TextThatIsNotUtf8DoesNotBreakTheExport) {
  RunRecord run = run_record(add_cells(store_, {"stock"}, {"g"})[0].id, 1);
  run.events = {{"error", "garbage \xff\xfe here"}};
  store_.add_run(run);
  EXPECT_EQ(parsed_json()["cells"][0]["runs"][0]["events"][0]["text"], "garbage \ufffd\ufffd here");
}

TEST_F(Export, ASnapshotThatIsNotJsonIsKeptAsText) {
  std::vector<CellRecord> cells;
  store_.add_experiment(test::experiment_record(store_.add_host({"h", "not { json", ""})), {},
                        cells);
  EXPECT_EQ(parsed_json()["host"]["snapshot"], "not { json");
}

}  // namespace
}  // namespace numabench
