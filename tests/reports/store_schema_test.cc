// What the schema itself refuses, whoever writes, and what its views derive.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "hosts/process.h"
#include "reports/migrations/migrations.h"
#include "reports/store_file.h"
#include "tests/reports/store_fixture.h"

namespace numabench {
namespace {

using test::add_cells;
using test::run_record;

class StoreSchema : public test::StoreFolder {
 protected:
  /// A store with one cell (id 1) and one run (id 1), opened by another program's rules.
  SQLite::Database open_raw() {
    Store store = open_for_writing();
    store.add_run(
        run_record(add_cells(store, {"stock"}, {"g"})[0].id, 1, {MetricValue::of("tps", 1)}));
    SQLite::Database database(path_, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA foreign_keys = ON");
    return database;
  }
};

TEST_F(StoreSchema, EveryTableIsStrict) {
  SQLite::Database database = open_raw();
  SQLite::Statement tables(
      database,
      "SELECT name, strict FROM pragma_table_list"
      " WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite_%'");
  std::vector<std::string> names;
  while (tables.executeStep()) {
    names.push_back(tables.getColumn(0).getString());
    EXPECT_EQ(tables.getColumn(1).getInt(), 1) << names.back();
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "host", "experiment", "arm", "cell", "run", "metric", "value", "sample",
                         "event", "placement_proof", "pool_memory", "artifact", "probe"));
}

TEST_F(StoreSchema, RefusesRowsThatCannotBeTrue) {
  SQLite::Database database = open_raw();
  const std::vector<std::string> wrong = {
      // A value is a number or has a reason: not neither, not both, not text.
      "INSERT INTO value VALUES (1, 'tail', NULL, NULL)",
      "INSERT INTO metric VALUES ('tail', '', 'lower', ''); "
      "INSERT INTO value VALUES (1, 'tail', 1.0, 'why')",
      "INSERT INTO value VALUES (1, 'tps', 'fast', NULL)",
      // A metric that is not described, a run that does not exist.
      "INSERT INTO value VALUES (1, 'unheard_of', 1.0, NULL)",
      "INSERT INTO event (run_id, severity, text) VALUES (99, 'info', '')",
      "INSERT INTO event (run_id, severity, text) VALUES (1, 'shouting', '')",
      // A run is ok or has a reason.
      "UPDATE run SET status = 'failed'",
      "UPDATE run SET reason = 'why'",
      "UPDATE run SET status = 'excellent'",
      // Types.
      "UPDATE cell SET clients = 'many'",
      "UPDATE cell SET clients = 1.5",
      "UPDATE cell SET pool_bytes = -1",
      "UPDATE cell SET arm = 'undefined arm'",
      "UPDATE run SET seed = '-1'",
      "UPDATE run SET seed = ''",
      "UPDATE experiment SET smoke = 2",
      // Nothing goes while something refers to it.
      "DELETE FROM run",
      "DELETE FROM cell",
      "DELETE FROM experiment",
  };
  for (const std::string& sql : wrong) {
    EXPECT_THROW(database.exec(sql), SQLite::Exception) << sql;
  }
}

/// The values of a cell that count, by metric, gathered as the test writes them.
using CountedValues = std::map<std::pair<std::int64_t, std::string>, std::vector<double>>;

double brute_force_median(std::vector<double> values) {
  // Removes the extremes two by two until one or two are left.
  while (values.size() > 2) {
    values.erase(std::min_element(values.begin(), values.end()));
    values.erase(std::max_element(values.begin(), values.end()));
  }
  return values.size() == 1 ? values[0] : (values[0] + values[1]) / 2;
}

/// Runs of every status, with and without values, with ties and negative numbers.
CountedValues write_random_runs(Store& store, const std::vector<CellRecord>& cells) {
  std::mt19937_64 random(42);
  std::normal_distribution<double> number(0, 100);
  CountedValues counted;
  for (const CellRecord& cell : cells) {
    const int runs = static_cast<int>(random() % 9);
    for (int repetition = 1; repetition <= runs; ++repetition) {
      RunRecord run = run_record(cell.id, repetition);
      run.status = static_cast<RunStatus>(random() % 8 < 5 ? 0 : random() % 4);
      if (run.status != RunStatus::kOk) run.reason = "did not count";
      for (const char* metric : {"tps", "tail", "hit_pct", "laps", "latency_max_us"}) {
        if (random() % 10 == 0) continue;
        const bool known = run.status == RunStatus::kOk;
        if (random() % 4 == 0) {
          run.values.push_back(MetricValue::absent(metric, "no reason"));
          if (known) counted[{cell.id, metric}];
          continue;
        }
        const double value = random() % 3 == 0 ? 7 : number(random);
        run.values.push_back(MetricValue::of(metric, value));
        if (known) counted[{cell.id, metric}].push_back(value);
      }
      store.add_run(run);
    }
  }
  return counted;
}

std::vector<std::string> many_groups() {
  std::vector<std::string> groups;
  for (int i = 0; i < 16; ++i) groups.push_back("group " + std::to_string(i));
  return groups;
}

TEST_F(StoreSchema, TheMedianViewAgreesWithBruteForce) {
  Store store = open_for_writing();
  add_cells(store, {"stock"}, {"another experiment, first in the file"});
  const std::vector<CellRecord> cells = add_cells(store, {"stock", "patched"}, many_groups());
  const CountedValues expected = write_random_runs(store, cells);

  const std::vector<MedianRecord> medians = store.medians(2);
  ASSERT_EQ(medians.size(), expected.size());
  std::map<std::size_t, int> cells_of_size;
  for (const MedianRecord& row : medians) {
    const std::vector<double>& values = expected.at({row.cell_id, row.metric});
    ++cells_of_size[values.size()];
    ASSERT_EQ(static_cast<std::size_t>(row.runs), values.size());
    if (values.empty()) {
      EXPECT_EQ(row.median, std::nullopt);
      EXPECT_EQ(row.minimum, std::nullopt);
      EXPECT_EQ(row.maximum, std::nullopt);
      continue;
    }
    EXPECT_DOUBLE_EQ(row.median.value(), brute_force_median(values));
    EXPECT_EQ(row.minimum, *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(row.maximum, *std::max_element(values.begin(), values.end()));
  }
  for (const std::size_t n : {0U, 1U, 2U, 3U, 4U, 5U}) {
    EXPECT_GT(cells_of_size[n], 0) << "the data never had a cell of " << n << " values";
  }
}

TEST_F(StoreSchema, TheComparisonViewAgreesWithBruteForce) {
  Store store = open_for_writing();
  const std::vector<CellRecord> cells = add_cells(store, {"stock", "patched"}, many_groups());
  const CountedValues counted = write_random_runs(store, cells);
  std::map<std::string, std::int64_t> baseline_of_group;
  for (const CellRecord& cell : cells) {
    if (cell.arm == "stock") baseline_of_group[cell.group] = cell.id;
  }

  SQLite::Database database(path_);
  SQLite::Statement row(database,
                        "SELECT cell_id, group_hash, metric, percent, baseline_median, better"
                        " FROM comparison");
  std::size_t rows = 0;
  for (; row.executeStep(); ++rows) {
    const std::string metric = row.getColumn(2).getString();
    const auto own = counted.find({row.getColumn(0).getInt64(), metric});
    const auto baseline =
        counted.find({baseline_of_group.at(row.getColumn(1).getString()), metric});
    ASSERT_NE(own, counted.end());
    EXPECT_EQ(row.getColumn(5).getString(), to_string(find_metric(metric)->better));
    const bool has_baseline = baseline != counted.end() && !baseline->second.empty();
    ASSERT_EQ(row.getColumn(4).isNull(), !has_baseline);
    if (!has_baseline || own->second.empty()) {
      EXPECT_TRUE(row.getColumn(3).isNull());
      continue;
    }
    if (own == baseline) {
      EXPECT_EQ(row.getColumn(3).getDouble(), 100);
    }
    EXPECT_DOUBLE_EQ(row.getColumn(3).getDouble(),
                     100 * brute_force_median(own->second) / brute_force_median(baseline->second));
  }
  EXPECT_EQ(rows, counted.size());
}

/// A file as the first schema wrote it: one experiment with one run of each of its cells.
void write_schema_1(const std::string& path) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(database, path, {migrations()[0]});
  database.exec(
      "INSERT INTO host VALUES (1, 'metal', '{}', '<topology/>');"
      "INSERT INTO experiment VALUES (1, 'old', 'embedded', 'stock', '', '', 'hash', '7', 3, 0, '',"
      " '2026-01-01T00:00:00Z', '1.0', 1);"
      "INSERT INTO arm VALUES (1, 1, 'stock', 'as it is', 'usage=count')");
  int id = 0;
  for (const char* pages : {"none", "memory", "direct"}) {
    ++id;
    database.exec(fmt::format(
        "INSERT INTO cell VALUES ({0}, 1, 'h{0}', 'g{0}', {0}, 'stock', 'zipfian', 's=1.1', 'free',"
        " '{1}', 8192, 16384, 2.0, 4);"
        "INSERT INTO run VALUES ({0}, {0}, 1, {0}, 0, 0, '1', 'ok', NULL, '', 1.5);",
        id, pages));
  }
  database.exec(
      "INSERT INTO metric VALUES ('tps', '1/s', 'higher', 'transactions a second');"
      "INSERT INTO value VALUES (1, 'tps', 10.0, NULL), (2, 'tps', 20.0, NULL)");
}

TEST_F(StoreSchema, AFileOfTheFirstSchemaKeepsItsRunsAndSaysTheirRegimes) {
  write_schema_1(path_);
  const Store store = Store::open(path_, Store::Mode::kReadWrite);
  const std::vector<CellRecord> cells = store.cells(1);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].regime, "none");
  EXPECT_EQ(cells[1].regime, "page-cache");
  EXPECT_EQ(cells[2].regime, "real-io");
  EXPECT_EQ(cells[1].placement, "free");
  EXPECT_EQ(cells[1].clients, 4);
  ASSERT_EQ(store.arms(1).size(), 1u);
  EXPECT_EQ(store.arms(1)[0].definition, "usage=count");
  EXPECT_FALSE(store.arms(1)[0].build_json);
  EXPECT_EQ(store.arms(1)[0].series, "");
  EXPECT_EQ(store.experiment(1)->scale, 1);
  EXPECT_EQ(store.experiment(1)->software, "1.0");
  ASSERT_EQ(store.runs(1).size(), 3u);
  EXPECT_EQ(store.runs(1)[1].values[0].value, 20.0);
  SQLite::Database database(path_);
  EXPECT_EQ(database.execAndGet("SELECT regime FROM comparison WHERE median = 20").getString(),
            "page-cache");
}

TEST_F(StoreSchema, ComparesWithinOneExperimentOnlyAndNeverWithABaselineOfZero) {
  Store store = open_for_writing();
  for (const double baseline : {0.0, 50.0}) {
    const std::vector<CellRecord> cells = add_cells(store, {"stock", "patched"}, {"same group"});
    store.add_run(run_record(cells[0].id, 1, {MetricValue::of("tps", baseline)}));
    store.add_run(run_record(cells[1].id, 1, {MetricValue::of("tps", 75)}));
  }
  const CommandResult result =
      run_command({"sqlite3", "-readonly", "-nullvalue", "unknown", path_,
                   "SELECT experiment_id, arm, baseline_arm, median, percent FROM comparison"
                   " ORDER BY cell_id"});
  ASSERT_TRUE(result.ok()) << result.err;
  EXPECT_EQ(result.out,
            "1|stock|stock|0.0|unknown\n"
            "1|patched|stock|75.0|unknown\n"
            "2|stock|stock|50.0|100.0\n"
            "2|patched|stock|75.0|150.0\n");
}

}  // namespace
}  // namespace numabench
