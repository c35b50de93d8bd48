#include "runner/engines/postgres/dataset_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>

#include "hosts/process.h"
#include "hosts/tree_copy.h"
#include "runner/engines/postgres/dataset_load.h"
#include "runner/engines/postgres/relations.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/kernel_view.h"
#include "tests/runner/engines/postgres/installed_server.h"
#include "workloads/accounts.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kPage = 8192;
constexpr std::uint64_t kHeapPages = 2000;
constexpr std::uint64_t kRows = kHeapPages * 61;

SqlWorkload accounts_workload() {
  SqlWorkload workload;
  workload.tables = {{"pgbench_accounts", kRows, 1, true}};
  workload.working_set = {"pgbench_accounts"};
  return workload;
}

SqlWorkload partitioned_workload() {
  SqlWorkload workload;
  workload.tables = {{"pgbench_accounts", 10'007, 4, true}, {"heap only", 122, 1, false}};
  workload.setup = {"CREATE TABLE extra AS SELECT generate_series(1, 1000) AS id",
                    "CREATE INDEX ON extra (id)"};
  workload.working_set = {"pgbench_accounts", "heap only", "extra"};
  return workload;
}

// The data directories are loaded once for the suite; tests that spoil them have their own.
class DatasetStoreTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new ServerDirectory;
    store_ = new DatasetStore(directory_->root(), directory_->user());
  }
  static void TearDownTestSuite() {
    delete store_;
    delete directory_;
  }
  void TearDown() override { EXPECT_TRUE(has_no_children()) << "a server is left"; }

  LoadedDataset acquire(const SqlWorkload& workload) {
    stages_.clear();
    return store_->acquire(installed_build(), workload,
                           [&](const std::string& stage) { stages_.push_back(stage); });
  }
  Server start(const LoadedDataset& dataset) const {
    return Server::start(installed_options(*directory_, dataset.data_directory));
  }
  static std::vector<std::string> names_below_datasets() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_->root() + "/datasets")) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  inline static ServerDirectory* directory_ = nullptr;
  inline static DatasetStore* store_ = nullptr;
  std::vector<std::string> stages_;
};

std::uint64_t number(Connection& connection, const std::string& sql) {
  return std::stoull(connection.value(sql).value());
}

// Two truths that know nothing of each other: the server and the arithmetic of Accounts.
TEST_F(DatasetStoreTest, PacksRowsAsAccountsSays) {
  const LoadedDataset dataset = acquire(accounts_workload());
  const Server server = start(dataset);
  Connection connection = server.connect();
  const Accounts accounts(kHeapPages);
  const auto& relations = accounts.dataset().relations();
  ASSERT_EQ(relations.size(), 2u);
  EXPECT_EQ(number(connection, "SELECT pg_relation_size('pgbench_accounts')"),
            relations[0].pages * kPage);
  // The metapage is read once a session and so is none of Accounts'.
  EXPECT_EQ(number(connection, "SELECT pg_relation_size('pgbench_accounts_pkey')"),
            (relations[1].pages + 1) * kPage);
  EXPECT_EQ(number(connection,
                   "SELECT max(c) FROM (SELECT count(*) AS c FROM pgbench_accounts "
                   "GROUP BY (ctid::text::point)[0]) AS pages"),
            61u);
  store_->release(dataset);
}

TEST_F(DatasetStoreTest, LoadsTheRowsOfPgbenchInTheirOrder) {
  const LoadedDataset dataset = acquire(accounts_workload());
  const Server server = start(dataset);
  Connection connection = server.connect();
  EXPECT_EQ(connection.query("SELECT count(*), min(aid), max(aid), sum(aid), min(bid), max(bid), "
                             "sum(abalance), min(length(filler::text)) FROM pgbench_accounts"),
            (std::vector<Connection::Row>{{std::to_string(kRows), "1", std::to_string(kRows),
                                           std::to_string(kRows * (kRows + 1) / 2), "1", "2", "0",
                                           "0"}}));
  EXPECT_EQ(number(connection, "SELECT octet_length(filler) FROM pgbench_accounts LIMIT 1"), 84u);
  EXPECT_EQ(number(connection,
                   "SELECT count(*) FROM (SELECT aid, lag(aid) OVER (ORDER BY ctid) "
                   "AS before FROM pgbench_accounts) AS rows WHERE aid <= before"),
            0u);
  EXPECT_EQ(connection.value("SELECT bid FROM pgbench_accounts WHERE aid = 100000"), "1");
  EXPECT_EQ(connection.value("SELECT bid FROM pgbench_accounts WHERE aid = 100001"), "2");
  store_->release(dataset);
}

TEST_F(DatasetStoreTest, LeavesNothingForVacuumAndHintBitsToDo) {
  const LoadedDataset dataset = acquire(accounts_workload());
  const Server server = start(dataset);
  Connection connection = server.connect();
  EXPECT_EQ(number(connection,
                   "SELECT relallvisible FROM pg_class "
                   "WHERE oid = 'pgbench_accounts'::regclass"),
            kHeapPages);
  connection.query("SELECT count(*) FROM pgbench_accounts");
  EXPECT_EQ(number(connection,
                   "SELECT count(*) FROM pg_buffercache WHERE isdirty AND "
                   "relfilenode = pg_relation_filenode('pgbench_accounts')"),
            0u);
  store_->release(dataset);
}

TEST_F(DatasetStoreTest, HasTheExtensionsAndTheClock) {
  const LoadedDataset dataset = acquire(accounts_workload());
  const Server server = start(dataset);
  Connection connection = server.connect();
  EXPECT_EQ(number(connection,
                   "SELECT count(*) FROM pg_extension "
                   "WHERE extname IN ('pg_buffercache', 'pg_prewarm')"),
            2u);
  EXPECT_EQ(
      connection.query("SELECT l.lanname, p.probin, p.prosrc, p.proisstrict, "
                       "p.prorettype::regtype FROM pg_proc AS p JOIN pg_language AS l "
                       "ON l.oid = p.prolang WHERE p.proname = 'numabench_clock'"),
      (std::vector<Connection::Row>{{"c", "numabench_clock", "numabench_clock", "t", "bigint"}}));
  // Looked for when it is called, and only then.
  EXPECT_THAT(error_of([&] { connection.query("SELECT numabench_clock()"); }).what(),
              HasSubstr("could not access file \"numabench_clock\""));
  store_->release(dataset);
}

TEST_F(DatasetStoreTest, MeasuresTheWorkingSet) {
  const LoadedDataset dataset = acquire(partitioned_workload());
  const Server server = start(dataset);
  Connection connection = server.connect();
  EXPECT_EQ(dataset.working_set_bytes,
            number(connection,
                   "SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relkind IN ('r', 'i') "
                   "AND (relname LIKE 'pgbench_accounts%' OR relname LIKE 'extra%' "
                   "OR relname = 'heap only')"));
  store_->release(dataset);
}

TEST_F(DatasetStoreTest, CutsPartitionsOfEqualSize) {
  const LoadedDataset dataset = acquire(partitioned_workload());
  const Server server = start(dataset);
  Connection connection = server.connect();
  EXPECT_EQ(connection.query("SELECT tableoid::regclass::text, count(*), min(aid), max(aid) "
                             "FROM pgbench_accounts GROUP BY tableoid ORDER BY 3"),
            (std::vector<Connection::Row>{{"pgbench_accounts_1", "2502", "1", "2502"},
                                          {"pgbench_accounts_2", "2502", "2503", "5004"},
                                          {"pgbench_accounts_3", "2502", "5005", "7506"},
                                          {"pgbench_accounts_4", "2501", "7507", "10007"}}));
  EXPECT_EQ(number(connection,
                   "SELECT sum(relallvisible) FROM pg_class "
                   "WHERE relname ~ '^pgbench_accounts_[1-4]$'"),
            42u + 42 + 42 + 41)
      << "frozen, each partition";
  store_->release(dataset);
}

TEST_F(DatasetStoreTest, ASecondTimeItIsThere) {
  const LoadedDataset first = acquire(accounts_workload());
  store_->release(first);
  const LoadedDataset second = acquire(accounts_workload());
  EXPECT_EQ(second.load_seconds, 0);
  EXPECT_EQ(second.data_directory, first.data_directory);
  EXPECT_EQ(second.working_set_bytes, first.working_set_bytes);
  EXPECT_EQ(second.bytes, tree_bytes(second.data_directory));
  EXPECT_FALSE(second.is_clone);
  EXPECT_THAT(stages_, IsEmpty());
  store_->release(second);
}

TEST_F(DatasetStoreTest, BelongsToTheServersUserAlone) {
  const LoadedDataset dataset = acquire(accounts_workload());
  struct stat status {};
  ASSERT_EQ(::stat(dataset.data_directory.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, directory_->user().uid);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  store_->release(dataset);
}

// pg_controldata is asked here as a person would.
TEST_F(DatasetStoreTest, IsKeyedByTheCatalogVersionAndTheData) {
  const LoadedDataset accounts = acquire(accounts_workload());
  const LoadedDataset partitioned = acquire(partitioned_workload());
  EXPECT_NE(accounts.key, partitioned.key);
  const std::string control =
      run_command({kInstalledBindir + "/pg_controldata", accounts.data_directory}).out;
  EXPECT_THAT(
      control,
      HasSubstr("Catalog version number:               " + accounts.catalog_version + "\n"));
  EXPECT_THAT(control, HasSubstr("Data page checksum version:           0\n"));
  EXPECT_THAT(control, HasSubstr("Database cluster state:               shut down\n"));
  store_->release(partitioned);
  store_->release(accounts);
}

TEST_F(DatasetStoreTest, SharesWhatHasEqualTablesAndSetup) {
  SqlWorkload same = accounts_workload();
  same.roles.resize(2);
  same.fill = FillOrder::kIndexFirst;
  EXPECT_EQ(dataset_description(same), dataset_description(accounts_workload()));
  for (const auto& change : std::vector<std::function<void(SqlWorkload&)>>{
           [](SqlWorkload& workload) { workload.tables[0].rows++; },
           [](SqlWorkload& workload) { workload.tables[0].partitions = 2; },
           [](SqlWorkload& workload) { workload.tables[0].primary_key = false; },
           [](SqlWorkload& workload) { workload.tables[0].name += "2"; },
           [](SqlWorkload& workload) { workload.setup = {"SELECT 1"}; }}) {
    SqlWorkload other = accounts_workload();
    change(other);
    EXPECT_NE(dataset_description(other), dataset_description(same));
  }
}

TEST_F(DatasetStoreTest, GivesWritersACloneOfTheirOwn) {
  SqlWorkload writing = partitioned_workload();
  writing.writes = true;
  const LoadedDataset clone = acquire(writing);
  EXPECT_TRUE(clone.is_clone);
  {
    const Server server = start(clone);
    Connection connection = server.connect();
    connection.execute("TRUNCATE extra; UPDATE pgbench_accounts SET abalance = 1");
  }
  store_->release(clone);
  EXPECT_FALSE(fs::exists(clone.data_directory));
  const LoadedDataset again = acquire(writing);
  EXPECT_EQ(again.key, clone.key);
  {
    const Server server = start(again);
    Connection connection = server.connect();
    EXPECT_EQ(number(connection, "SELECT count(*) FROM extra"), 1000u);
    EXPECT_EQ(number(connection, "SELECT sum(abalance) FROM pgbench_accounts"), 0u);
  }
  store_->release(again);
}

TEST_F(DatasetStoreTest, IsHeldUntilItIsReleased) {
  const LoadedDataset dataset = acquire(accounts_workload());
  DatasetStore other(directory_->root(), directory_->user());
  // The observer hears that it waits, and may end the waiting.
  const Error error = error_of([&] {
    other.acquire(installed_build(), accounts_workload(), [](const std::string& stage) {
      if (stage.starts_with("waiting")) throw Error(ErrorKind::kInterrupted, "enough");
    });
  });
  EXPECT_EQ(error.kind(), ErrorKind::kInterrupted);
  store_->release(dataset);
  store_->release(dataset);  // and once more, which does nothing
  const LoadedDataset now = other.acquire(installed_build(), accounts_workload(), [](auto&) {});
  EXPECT_EQ(now.key, dataset.key);
  other.release(now);
}

TEST_F(DatasetStoreTest, TellsHowFarTheLoadingIs) {
  SqlWorkload workload = accounts_workload();
  workload.tables[0].name = "told";
  workload.working_set = {"told"};
  const LoadedDataset dataset = acquire(workload);
  EXPECT_GT(dataset.load_seconds, 0);
  EXPECT_THAT(stages_, Contains("loading told"));
  EXPECT_THAT(stages_, Contains(MatchesRegex("loading told, [0-9]+ %, ETA .*")));
  EXPECT_THAT(stages_, Contains("loading told, 100 %, ETA 0.0 s"));
  EXPECT_THAT(stages_, Contains("indexing told"));
  store_->release(dataset);
}

TEST_F(DatasetStoreTest, LeavesNothingOfALoadThatWasInterrupted) {
  SqlWorkload workload = accounts_workload();
  workload.tables[0].name = "interrupted";
  workload.working_set = {"interrupted"};
  const Error error = error_of([&] {
    store_->acquire(installed_build(), workload, [](const std::string& stage) {
      if (stage.find('%') != std::string::npos) throw Error(ErrorKind::kInterrupted, "Ctrl-C");
    });
  });
  EXPECT_EQ(error.kind(), ErrorKind::kInterrupted);
  EXPECT_THAT(names_below_datasets(), Not(Contains(HasSubstr(".partial"))));
  const LoadedDataset dataset = acquire(workload);  // and its lock is free
  store_->release(dataset);
}

// Killed while it loads: the server dies with it, the next process begins again.
TEST_F(DatasetStoreTest, MakesAgainWhatAKilledProcessLeft) {
  SqlWorkload workload = accounts_workload();
  workload.tables[0].name = "killed";
  workload.working_set = {"killed"};
  Worker loader = Worker::fork({}, [&] {
    DatasetStore own(directory_->root(), directory_->user());
    own.acquire(installed_build(), workload, [](const std::string& stage) {
      if (stage.find('%') != std::string::npos) ::kill(::getpid(), SIGKILL);
    });
    return 0;
  });
  ASSERT_EQ(loader.wait(std::chrono::seconds(60)).signal, SIGKILL);
  ASSERT_THAT(names_below_datasets(), Contains(HasSubstr(".partial")));
  const LoadedDataset dataset = acquire(workload);
  EXPECT_THAT(names_below_datasets(), Not(Contains(HasSubstr(".partial"))));
  {
    const Server server = start(dataset);
    Connection connection = server.connect();
    EXPECT_EQ(number(connection, "SELECT count(*) FROM killed"), kRows);
  }
  store_->release(dataset);
}

TEST_F(DatasetStoreTest, RefusesWhatDoesNotFit) {
  SqlWorkload huge = accounts_workload();
  huge.tables[0].rows = std::uint64_t{1} << 50;
  const Error error = error_of([&] { acquire(huge); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.problem(), AllOf(HasSubstr("needs"), HasSubstr("are free")));
  EXPECT_THAT(error.remedy(), HasSubstr("data_directory"));
}

TEST_F(DatasetStoreTest, NamesATableOfTheWorkingSetThatIsNotThere) {
  SqlWorkload wrong = accounts_workload();
  wrong.working_set = {"no such table"};
  EXPECT_THAT(error_of([&] { acquire(wrong); }).what(), HasSubstr("no such table"));
}

TEST_F(DatasetStoreTest, GivesTheServersWordsForASetupThatFails) {
  SqlWorkload wrong = accounts_workload();
  wrong.tables[0].rows = 61;
  wrong.setup = {"CREATE INDEX ON pgbench_accounts (nonsense)"};
  const Error error = error_of([&] { acquire(wrong); });
  EXPECT_EQ(error.kind(), ErrorKind::kRun);
  EXPECT_THAT(error.what(), HasSubstr("column \"nonsense\" does not exist"));
}

TEST_F(DatasetStoreTest, ProjectsTheRelationsToThePage) {
  for (const SqlWorkload& workload : {accounts_workload(), partitioned_workload()}) {
    const LoadedDataset dataset = acquire(workload);
    SqlWorkload tables_only = workload;
    std::uint64_t measured = 0;
    const Server server = start(dataset);
    Connection connection = server.connect();
    for (const SqlTable& table : workload.tables) {
      measured += relations_of_tables(connection).at(table.name).bytes();
    }
    EXPECT_EQ(projected_relation_bytes(workload), measured);
    store_->release(dataset);
  }
}

TEST_F(DatasetStoreTest, ProjectsWhatTheWholeDirectoryTakes) {
  const LoadedDataset dataset = acquire(accounts_workload());
  const std::uint64_t projected = projected_bytes(accounts_workload());
  EXPECT_GE(projected, dataset.bytes);
  // Beside the relations there is a fixed part: an empty cluster and its WAL.
  SqlWorkload nothing;
  EXPECT_LE(projected - projected_bytes(nothing), dataset.working_set_bytes * 11 / 10);
  EXPECT_GE(projected - projected_bytes(nothing), dataset.working_set_bytes);
  store_->release(dataset);
}

TEST(PartitionRanges, CoverAllRowsOnceAndInOrder) {
  for (const int partitions : {1, 3, 100, 1000}) {
    for (const std::uint64_t rows : {1u, 99u, 100u, 101u, 122'000u}) {
      const auto ranges = partition_ranges({"t", rows, partitions, true});
      ASSERT_EQ(ranges.size(), static_cast<std::size_t>(partitions));
      std::uint64_t next = 1;
      for (const RowRange& range : ranges) {
        EXPECT_EQ(range.first, next);
        next = range.last + 1;
      }
      EXPECT_EQ(next, rows + 1) << rows << " rows in " << partitions;
    }
  }
}

}  // namespace
}  // namespace numabench
