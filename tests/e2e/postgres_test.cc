// Real servers from beginning to end: Debian's postgresql-15 built from source with and without a
// planted regression, and the installed one, under pgbench. Minutes, most of them compiling; builds
// are kept between runs of the tests in $NUMABENCH_TEST_ARMS.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "tests/e2e/driver.h"
#include "tests/paths.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kSeries = source_dir() + "/tests/e2e/data/slow-series";

/// Of one call, which may have servers to build on a slow machine.
constexpr std::chrono::minutes kWithBuilds{45};

std::string arms_directory() {
  const char* given = std::getenv("NUMABENCH_TEST_ARMS");
  return given != nullptr ? given : fs::temp_directory_path() / "numabench-test-arms";
}

/// What all experiments here have in common.
std::string beginning(const std::string& name) {
  return "name: " + name +
         "\nengine: postgres\nhuge_pages: off\ndata_directory: " + arms_directory() +
         "\n"
         "pools: 32MiB\nclients: 4\nruns: 3\nwarmup: 500ms\nduration: 1s\nbaseline: stock\n"
         "drift_control: false\n";
}

class PostgresExperiment : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(arms_directory()); }

  std::string file(const std::string& name) const { return directory_.path() + "/" + name; }
  CommandResult call(const std::vector<std::string>& arguments) {
    return numabench(arguments, directory_.path(), kWithBuilds);
  }
  std::vector<std::string> query(const std::string& sql) {
    return numabench::query(file("it.db"), sql);
  }
  double number(const std::string& sql) {
    const std::vector<std::string> rows = query(sql);
    return rows.size() == 1 ? std::strtod(rows[0].c_str(), nullptr) : std::nan("");
  }
  CommandResult run(const std::string& config) {
    write_file(file("it.yaml"), config);
    return call({"run", "it.yaml", "--db", "it.db", "--no-figures"});
  }
  /// A median of a cell.
  double median(const std::string& arm, const std::string& workload, const std::string& ratio,
                const std::string& metric) {
    return number("SELECT median FROM median JOIN cell ON cell.id = median.cell_id WHERE arm = '" +
                  arm + "' AND workload = '" + workload + "' AND ratio = " + ratio +
                  " AND metric = '" + metric + "'");
  }
  /// The metric's value in each run of the selected cells.
  std::vector<std::string> values(const std::string& metric, const std::string& where) {
    return query(
        "SELECT value FROM value JOIN run ON run.id = value.run_id "
        "JOIN cell ON cell.id = run.cell_id WHERE metric = '" +
        metric + "' AND " + where);
  }

  void expect_builds();
  void expect_honest_counts();
  void expect_layers_to_agree();
  void expect_pgbenchs_own_numbers();
  void expect_the_regression_to_be_found();

  TemporaryDirectory directory_;
};

/// Same flags, different servers; the installed one cannot count inside its sweep and says so.
void PostgresExperiment::expect_builds() {
  EXPECT_THAT(query("SELECT name FROM arm ORDER BY name"),
              ElementsAre("installed", "slow", "stock"));
  const auto build = [&](const std::string& arm, const std::string& key) {
    return query("SELECT json_extract(build_json, '$." + key + "') FROM arm WHERE name = '" + arm +
                 "'");
  };
  for (const std::string key : {"configuration", "cflags", "compiler"}) {
    EXPECT_EQ(build("stock", key), build("slow", key));
    EXPECT_THAT(build("stock", key), ElementsAre(Not(IsEmpty())));
  }
  EXPECT_THAT(build("stock", "build_id"), ElementsAre(Not(IsEmpty())));
  EXPECT_NE(build("stock", "build_id"), build("slow", "build_id"));
  EXPECT_THAT(values("tail", "arm = 'installed' AND value IS NOT NULL"), IsEmpty());
  EXPECT_THAT(query("SELECT DISTINCT value.reason FROM value JOIN run ON run.id = value.run_id "
                    "JOIN cell ON cell.id = run.cell_id WHERE metric = 'tail' AND arm = "
                    "'installed'"),
              Each(HasSubstr("installed")));
}

/// A point query asks for four pages: root, inner page, leaf and heap (or three, without an inner
/// page); pgbench counts the queries and the server the pages.
void PostgresExperiment::expect_honest_counts() {
  for (const std::string& row :
       query("SELECT accesses.value / transactions.value FROM value AS accesses "
             "JOIN value AS transactions USING (run_id) JOIN run ON run.id = run_id "
             "JOIN cell ON cell.id = run.cell_id WHERE accesses.metric = 'accesses' "
             "AND transactions.metric = 'transactions' AND workload = 'zipfian'")) {
    EXPECT_NEAR(std::stod(row), 4, 4 * 0.005);
  }
  for (const std::string& row :
       query("SELECT 100 * (1 - reads.value / (4 * transactions.value)) - hit.value "
             "FROM value AS reads JOIN value AS transactions USING (run_id) "
             "JOIN value AS hit USING (run_id) JOIN run ON run.id = run_id "
             "JOIN cell ON cell.id = run.cell_id WHERE reads.metric = 'reads' "
             "AND transactions.metric = 'transactions' AND hit.metric = 'hit_pct' "
             "AND workload = 'zipfian'")) {
    EXPECT_NEAR(std::stod(row), 0, 0.5) << "points of the hit ratio";
  }
}

/// The hand's way over the allocations and the ticks counted in the sweep are the same thing.
void PostgresExperiment::expect_layers_to_agree() {
  // The slow arm asks for too few pages in a second.
  const std::string counted = "arm = 'stock' AND ratio = 2 AND value IS NOT NULL";
  const auto disagreements = values("adv_disagreement_pct", counted);
  EXPECT_EQ(disagreements.size(), 3u * 3) << "workloads x runs";
  for (const std::string& pct : disagreements) EXPECT_NEAR(std::stod(pct), 0, 1);
  for (const std::string& used : values("occupancy_before_pct", "workload = 'zipfian'")) {
    EXPECT_GE(std::stod(used), 99.9);
  }
  EXPECT_THAT(values("adv_per_victim", "arm = 'installed' AND value > 0"), Not(IsEmpty()));
}

/// tps is the number that pgbench printed.
void PostgresExperiment::expect_pgbenchs_own_numbers() {
  const std::string run =
      query("SELECT min(run_id) FROM value WHERE metric = 'tps' AND value IS NOT NULL").at(0);
  const double tps = number("SELECT value FROM value WHERE metric = 'tps' AND run_id = " + run);
  const std::string label = "tps = ";
  double printed = 0;
  for (const std::string& line :
       query("SELECT sqlar_uncompress(bytes, size_bytes) FROM artifact WHERE name = "
             "'pgbench-clients.txt' AND run_id = " +
             run)) {
    if (line.starts_with(label)) printed = std::stod(line.substr(label.size()));
  }
  EXPECT_GT(printed, 0);
  EXPECT_NEAR(printed, tps, 1e-5);
}

/// Four sleeps of three milliseconds a query: no more than 84 queries a second and client, which no
/// other load on the machine brings the fast arm down to.
void PostgresExperiment::expect_the_regression_to_be_found() {
  for (const std::string ratio : {"1.15", "2"}) {
    EXPECT_LT(median("slow", "zipfian", ratio, "tps"),
              0.7 * median("stock", "zipfian", ratio, "tps"));
  }
  const CommandResult compared = call({"compare", "it.db", "--metric", "tps"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("slow"));
}

TEST_F(PostgresExperiment, FindsAPlantedRegressionInAnArmBuiltFromSource) {
  const CommandResult result = run(beginning("planted") +
                                   "arms:\n"
                                   "  - name: stock\n"
                                   "    source: {debian: postgresql-15}\n"
                                   "  - name: slow\n"
                                   "    extends: stock\n"
                                   "    patches: " +
                                   kSeries +
                                   "/0002-*.patch\n"
                                   "  - name: installed\n"
                                   "    source: {bindir: /usr/lib/postgresql/15/bin}\n"
                                   "ratios: [1.15, 2]\n"
                                   "workloads:\n"
                                   "  - {name: zipfian, fill: index_then_heap}\n"
                                   "  - {name: hotscan, fill: index_then_heap, range_rows: 1000}\n"
                                   "  - {name: seqscan, partitions: 100, fill: heap_first}\n");
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_THAT(query("SELECT status, count(*) FROM run GROUP BY status"), ElementsAre("ok|54"));
  expect_builds();
  expect_honest_counts();
  expect_layers_to_agree();
  expect_pgbenchs_own_numbers();
  expect_the_regression_to_be_found();
}

TEST_F(PostgresExperiment, PinsARegressionToOnePatchOfASeries) {
  const CommandResult result = run(beginning("series") +
                                   "arms:\n"
                                   "  - name: stock\n"
                                   "    source: {debian: postgresql-15}\n"
                                   "  - name: series\n"
                                   "    extends: stock\n"
                                   "    series: each-prefix\n"
                                   "    patches: " +
                                   kSeries +
                                   "/*.patch\n"
                                   "ratios: 1.15\n"
                                   "workloads: [{name: zipfian, fill: index_then_heap}]\n");
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_THAT(query("SELECT name FROM arm ORDER BY id"),
              ElementsAre("stock", "series-0001", "series-0002", "series-0003"));
  const CommandResult pinned = call({"compare", "it.db", "--series", "series"});
  EXPECT_EQ(pinned.exit_code, 0) << pinned.err;
  EXPECT_THAT(pinned.out, HasSubstr("farthest from the step before (inconclusive: 3 pairs, 6 "
                                    "needed): 0002-Sleep-in-ReadBuffer.patch: tps 0."));
}

TEST_F(PostgresExperiment, GoesOnWithTheOtherArmsWhenAPatchDoesNotApply) {
  std::string patch = read_file(kSeries + "/0002-Sleep-in-ReadBuffer.patch");
  const std::string context = "return ReadBufferExtended";
  patch.replace(patch.find(context), context.size(), "return ReadBufferDifferently");
  write_file(file("broken.patch"), patch);
  const CommandResult result = run(beginning("broken") +
                                   "arms:\n"
                                   "  - name: stock\n"
                                   "    source: {bindir: /usr/lib/postgresql/15/bin}\n"
                                   "  - name: broken\n"
                                   "    source: {debian: postgresql-15}\n"
                                   "    patches: broken.patch\n"
                                   "ratios: 1.15\n"
                                   "workloads: [zipfian]\n");
  EXPECT_EQ(result.exit_code, 4) << result.err << result.out;
  EXPECT_THAT(query("SELECT arm, status, count(*) FROM run JOIN cell ON cell.id = cell_id "
                    "GROUP BY arm, status ORDER BY arm"),
              ElementsAre("broken|failed|3", "stock|ok|3"));
  EXPECT_THAT(query("SELECT DISTINCT reason FROM run WHERE status = 'failed'"),
              ElementsAre(::testing::AllOf(HasSubstr("broken.patch"), HasSubstr("bufmgr.c"),
                                           HasSubstr("hunk"))));
}

}  // namespace
}  // namespace numabench
