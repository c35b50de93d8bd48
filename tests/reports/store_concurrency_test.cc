// Several processes on one results file, and processes that end in the middle.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "hosts/error.h"
#include "hosts/process.h"
#include "tests/reports/store_fixture.h"

namespace numabench {
namespace {

using test::add_cells;
using test::run_record;

constexpr std::chrono::minutes kLongEnough{4};

/// A run large enough to need many pages: half of it would be noticed.
RunRecord large_run(std::int64_t cell_id, int repetition) {
  RunRecord run = run_record(cell_id, repetition);
  for (const Metric& metric : metric_catalogue()) {
    run.values.push_back(MetricValue::of(metric.name, repetition));
  }
  run.artifacts = {{"log", std::string(static_cast<std::size_t>(repetition) * 100, 'x')}};
  return run;
}

bool is_whole(const RunRecord& run) {
  if (run.values.size() != metric_catalogue().size()) return false;
  for (const MetricValue& value : run.values) {
    if (value.value != run.repetition) return false;
  }
  return true;
}

class StoreConcurrency : public test::StoreFolder {
 protected:
  std::string integrity() const {
    SQLite::Database database(path_);
    return database.execAndGet("PRAGMA integrity_check").getString();
  }
};

// Requirement B 31.
TEST_F(StoreConcurrency, AReaderDoesNotWaitForAWriter) {
  Store store = open_for_writing();
  const std::int64_t cell = add_cells(store, {"stock"}, {"g"})[0].id;
  store.add_run(large_run(cell, 1));
  SQLite::Database other(path_, SQLite::OPEN_READWRITE);
  SQLite::Transaction uncommitted(other, SQLite::TransactionBehavior::IMMEDIATE);
  other.exec("UPDATE run SET block = 99");
  EXPECT_EQ(open_for_reading().runs(1).at(0).block, 0);
  EXPECT_EQ(open_for_reading().medians(1).size(), metric_catalogue().size());
}

TEST_F(StoreConcurrency, AWriterDoesNotWaitForAReader) {
  Store store = open_for_writing();
  const std::int64_t cell = add_cells(store, {"stock"}, {"g"})[0].id;
  SQLite::Database reader(path_);
  SQLite::Transaction snapshot(reader);
  EXPECT_EQ(reader.execAndGet("SELECT count(*) FROM run").getInt(), 0);
  store.add_run(large_run(cell, 1));
  EXPECT_EQ(reader.execAndGet("SELECT count(*) FROM run").getInt(), 0);
  EXPECT_EQ(open_for_reading().runs(1).size(), 1U);
}

/// Reads until all runs are there; fails if one is ever incomplete or lost again.
int read_until(const std::string& path, std::size_t all) {
  std::size_t seen = 0;
  while (seen < all) {
    const Store store = Store::open(path, Store::Mode::kReadOnly);
    const std::vector<RunRecord> runs = store.runs(1);
    if (runs.size() < seen) return 1;
    for (const RunRecord& run : runs) {
      if (!is_whole(run)) return 2;
    }
    seen = runs.size();
  }
  return 0;
}

// Requirement B 31: two readers and a writer, none of which meets "database is locked".
TEST_F(StoreConcurrency, TwoReadersAndAWriter) {
  constexpr int kRuns = 60;
  const std::int64_t cell = [&] {
    Store store = open_for_writing();
    return add_cells(store, {"stock"}, {"g"})[0].id;
  }();
  const auto read = [&] { return read_until(path_, kRuns); };
  Worker first_reader = Worker::fork(Placement{}, read);
  Worker second_reader = Worker::fork(Placement{}, read);
  Worker writer = Worker::fork(Placement{}, [&] {
    Store store = open_for_writing();
    for (int i = 1; i <= kRuns; ++i) store.add_run(large_run(cell, i));
    return 0;
  });
  EXPECT_EQ(writer.wait(kLongEnough).exit_code, 0);
  EXPECT_EQ(first_reader.wait(kLongEnough).exit_code, 0);
  EXPECT_EQ(second_reader.wait(kLongEnough).exit_code, 0);
}

TEST_F(StoreConcurrency, TwoWritersLoseNothing) {
  constexpr int kRuns = 20;
  const std::vector<CellRecord> cells = [&] {
    Store store = open_for_writing();
    return add_cells(store, {"stock", "patched"}, {"g"});
  }();
  const auto write_to = [&](std::int64_t cell) {
    return [this, cell] {
      Store store = open_for_writing();
      for (int i = 1; i <= kRuns; ++i) store.add_run(large_run(cell, i));
      return 0;
    };
  };
  Worker first = Worker::fork(Placement{}, write_to(cells[0].id));
  Worker second = Worker::fork(Placement{}, write_to(cells[1].id));
  EXPECT_EQ(first.wait(kLongEnough).exit_code, 0);
  EXPECT_EQ(second.wait(kLongEnough).exit_code, 0);
  EXPECT_EQ(open_for_reading().runs(1).size(), 2U * kRuns);
}

TEST_F(StoreConcurrency, ManyProcessesMakeTheSameFileAtOnce) {
  std::vector<Worker> workers;
  for (int i = 0; i < 8; ++i) {
    workers.push_back(Worker::fork(Placement{}, [&] {
      Store store = open_for_writing();
      add_cells(store, {"stock"}, {"g"});
      return 0;
    }));
  }
  for (Worker& worker : workers) EXPECT_EQ(worker.wait(kLongEnough).exit_code, 0);
  EXPECT_EQ(open_for_reading().experiments().size(), workers.size());
}

/// A writer that reports each run's repetition on a pipe once add_run() has returned.
class ReportingWriter {
 public:
  ReportingWriter(const std::string& path, std::int64_t cell, int first_repetition)
      : worker_(start(path, cell, first_repetition)) {
    close(pipe_[1]);
  }
  ~ReportingWriter() { close(pipe_[0]); }

  /// Waits for the next report; 0 at the end.
  int next_report() {
    int repetition = 0;
    return read(pipe_[0], &repetition, sizeof repetition) == sizeof repetition ? repetition : 0;
  }

  void kill_hard() {
    ::kill(worker_.pid(), SIGKILL);
    worker_.wait(kLongEnough);
  }

 private:
  Worker start(const std::string& path, std::int64_t cell, int first_repetition) {
    if (pipe(pipe_) != 0) throw std::runtime_error("pipe failed");
    return Worker::fork(Placement{}, [&, this] {
      Store store = Store::open(path, Store::Mode::kReadWrite);
      for (int repetition = first_repetition;; ++repetition) {
        store.add_run(large_run(cell, repetition));
        if (write(pipe_[1], &repetition, sizeof repetition) < 0) return 1;
      }
    });
  }

  int pipe_[2] = {-1, -1};
  Worker worker_;
};

// Requirement B 35: whatever happens after a run was committed, it is kept, and nothing is kept
// half.
TEST_F(StoreConcurrency, AWriterKilledAtAnyMomentLosesNothingCommitted) {
  const std::int64_t cell = [&] {
    Store store = open_for_writing();
    return add_cells(store, {"stock"}, {"g"})[0].id;
  }();
  std::mt19937_64 random(11);
  std::size_t committed = 0;
  for (int life = 0; life < 15; ++life) {
    ReportingWriter writer(path_, cell, static_cast<int>(committed) + 1);
    int reported = writer.next_report();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
    writer.kill_hard();
    while (const int next = writer.next_report()) reported = next;

    const std::vector<RunRecord> runs = open_for_reading().runs(1);
    ASSERT_GE(runs.size(), static_cast<std::size_t>(reported)) << "a committed run was lost";
    ASSERT_LE(runs.size(), static_cast<std::size_t>(reported) + 1);
    for (const RunRecord& run : runs) ASSERT_TRUE(is_whole(run)) << run.repetition;
    committed = runs.size();
  }
  EXPECT_EQ(integrity(), "ok");
}

TEST_F(StoreConcurrency, AProcessKilledWhileItMakesTheFileLeavesOneThatOpens) {
  std::mt19937_64 random(5);
  for (int life = 0; life < 15; ++life) {
    path_ = (folder_ / ("results" + std::to_string(life))).string();
    Worker worker = Worker::fork(Placement{}, [&] {
      open_for_writing();
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    ::kill(worker.pid(), SIGKILL);
    worker.wait(kLongEnough);
    Store store = open_for_writing();
    add_cells(store, {"stock"}, {"g"});
    EXPECT_EQ(open_for_reading().experiments().size(), 1U);
  }
}

// The embedded engine forks its clients while the store is open; their end must not end our locks.
TEST_F(StoreConcurrency, ForkedClientsDoNotDisturbTheStore) {
  Store store = open_for_writing();
  const std::int64_t cell = add_cells(store, {"stock"}, {"g"})[0].id;
  for (int i = 1; i <= 5; ++i) {
    Worker client = Worker::fork(Placement{}, [] { return 0; });
    store.add_run(large_run(cell, i));
    EXPECT_EQ(client.wait(kLongEnough).exit_code, 0);
  }
  EXPECT_EQ(open_for_reading().runs(1).size(), 5U);
  EXPECT_EQ(integrity(), "ok");
}

}  // namespace
}  // namespace numabench
