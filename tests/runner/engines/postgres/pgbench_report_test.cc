// Reports of pgbench in data/: NAME.captured is what a pgbench 15.20 printed; NAME.written follows
// printResults() of its version, with the numbers of a captured one or of REQUIREMENTS 16.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>

#include "runner/engines/postgres/pgbench.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/temporary_directory.h"
#include "tests/paths.h"

namespace numabench {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Optional;
using testing::SizeIs;

std::string data(const std::string& name) {
  std::ifstream file(source_dir() + "/tests/runner/engines/postgres/data/pgbench-" + name);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

TEST(PgbenchSummary, HasTheSameRateByTheLinesOfAnyVersion) {
  EXPECT_THAT(parse_pgbench_summary(data("13-plain.written.out")).tps, Optional(2770.785214));
  EXPECT_THAT(parse_pgbench_summary(data("14-plain.written.out")).tps, Optional(2770.785214));
  for (const char* name :
       {"13-scripts.written.out", "15-scripts.captured.out", "20devel-scripts.written.out"}) {
    EXPECT_THAT(parse_pgbench_summary(data(name)).tps, Optional(460.699067)) << name;
  }
}

TEST(PgbenchSummary, HasEachLineOfAReport) {
  const PgbenchSummary summary = parse_pgbench_summary(data("15-plain.captured.out"));
  EXPECT_THAT(summary.transactions, Optional(37100u));
  EXPECT_THAT(summary.tps, Optional(12980.669649));
  EXPECT_THAT(summary.failed, Optional(0u));
  EXPECT_THAT(summary.latency_mean_ms, Optional(0.304));
  EXPECT_THAT(summary.latency_stddev_ms, Optional(0.920));
  EXPECT_THAT(summary.connection_ms, Optional(146.836));
  EXPECT_THAT(summary.clients, Optional(4));
  EXPECT_THAT(summary.threads, Optional(2));
  EXPECT_EQ(summary.retried, std::nullopt);
  EXPECT_EQ(summary.skipped, std::nullopt);
}

TEST(PgbenchSummary, LeavesOutWhatAVersionDoesNotSay) {
  const PgbenchSummary summary = parse_pgbench_summary(data("13-plain.written.out"));
  EXPECT_EQ(summary.failed, std::nullopt);
  EXPECT_EQ(summary.connection_ms, std::nullopt);
  EXPECT_THAT(summary.transactions, Optional(166247u));
}

TEST(PgbenchSummary, IsOfAllScriptsNotOfOne) {
  for (const char* name :
       {"13-scripts.written.out", "15-scripts.captured.out", "20devel-scripts.written.out"}) {
    const PgbenchSummary summary = parse_pgbench_summary(data(name));
    EXPECT_THAT(summary.transactions, Optional(1325u)) << name;
    EXPECT_THAT(summary.skipped, Optional(68u)) << name;
    EXPECT_THAT(summary.latency_mean_ms, Optional(1.759)) << name;
    EXPECT_THAT(summary.latency_stddev_ms, Optional(2.337)) << name;
  }
}

TEST(PgbenchSummary, CountsFailedAndRetriedTransactions) {
  const PgbenchSummary summary = parse_pgbench_summary(data("15-retry.captured.out"));
  EXPECT_THAT(summary.failed, Optional(134u));
  EXPECT_THAT(summary.retried, Optional(771u));
}

TEST(PgbenchSummary, TakesTheRateWithReconnectionsWhereThereIsNoOther) {
  const PgbenchSummary summary = parse_pgbench_summary(data("15-reconnect.captured.out"));
  EXPECT_THAT(summary.tps, Optional(17.241543));
  EXPECT_THAT(summary.transactions, Optional(20u));
}

TEST(PgbenchSummary, IsZeroOnlyForARunWithoutATransaction) {
  EXPECT_THAT(parse_pgbench_summary(data("15-nothing.captured.out")).tps, Optional(0.0));
  for (const char* cut : {"", "pgbench (15.20)\nnumber of transactions actually processed: 12\n",
                          " - 1022 transactions (77.1% of total, tps = 355.346752)\n"}) {
    const Error error = error_of([&] { parse_pgbench_summary(cut); });
    EXPECT_EQ(error.kind(), ErrorKind::kRun);
    EXPECT_THAT(error.what(), HasSubstr("tps"));
  }
}

TEST(PgbenchProgressLine, IsReadByItsLabels) {
  const auto progress = parse_pgbench_progress(
      "progress: 12.5 s, 412.6 tps, lat 2.241 ms stddev 3.036, 7 failed, lag 0.542 ms, 32 skipped");
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->t_seconds, 12.5);
  EXPECT_EQ(progress->tps, 412.6);
  EXPECT_THAT(progress->latency_mean_ms, Optional(2.241));
  EXPECT_THAT(progress->latency_stddev_ms, Optional(3.036));
  EXPECT_EQ(progress->failed, 7u);
}

TEST(PgbenchProgressLine, OfVersion13HasNoFailuresAndPerhapsNoLatency) {
  const auto progress =
      parse_pgbench_progress("progress: 2.0 s, 0.0 tps, lat -nan ms stddev -nan, lag -nan ms");
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->tps, 0);
  EXPECT_EQ(progress->failed, 0u);
  EXPECT_EQ(progress->latency_mean_ms, std::nullopt);
  EXPECT_EQ(progress->latency_stddev_ms, std::nullopt);
}

TEST(PgbenchProgressLine, IsNoOtherLine) {
  for (const char* line : {"", "pgbench: error: progress: 1.0 s, 2.0 tps",
                           "progress: ", "progress: soon, 1.0 tps", "progress: 1.0 s"}) {
    EXPECT_FALSE(parse_pgbench_progress(line)) << line;
  }
}

TEST(PgbenchFailure, IsTheFirstErrorInPgbenchsWords) {
  EXPECT_EQ(pgbench_failure(data("15-killed.captured.err")),
            "client 0 script 0 aborted in command 1 query 0: FATAL:  terminating connection due to "
            "administrator command (and 1 more errors)");
  EXPECT_THAT(pgbench_failure(data("15-too-many.captured.err")),
              AllOf(HasSubstr("FATAL:  sorry, too many clients already"), Not(HasSubstr("\n"))));
  EXPECT_THAT(
      pgbench_failure("client 3 aborted in command 1 (SQL) of script 0; perhaps the backend "
                      "died while processing\n"),
      HasSubstr("client 3 aborted"));
}

TEST(PgbenchFailure, IsOfAClientAtWorkOrOfOneThatNeverWas) {
  EXPECT_TRUE(is_aborted_client(pgbench_failure(data("15-killed.captured.err"))));
  EXPECT_TRUE(is_aborted_client("client 3 aborted in command 1 (SQL) of script 0; perhaps …"));
  EXPECT_FALSE(is_aborted_client(pgbench_failure(data("15-too-many.captured.err"))));
  EXPECT_FALSE(is_aborted_client(""));
}

TEST(PgbenchFailure, IsEmptyForARunThatWentWell) {
  EXPECT_EQ(pgbench_failure(""), "");
  EXPECT_EQ(pgbench_failure(data("15-retry.captured.err")), "");
  EXPECT_EQ(pgbench_failure("pgbench: warning: scale option ignored\n"
                            "pgbench: setting random seed to 17\n"),
            "");
}

TEST(PgbenchErrorReader, CountsTheTransactionsOfTheProgressAsTheyCome) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("err", "");
  PgbenchErrorReader reader(path);
  const std::string text = data("15-killed.captured.err");
  // Byte by byte: lines are whole only when their end is there.
  for (const char c : text) {
    std::ofstream(path, std::ios::app) << c;
    reader.read_more();
  }
  EXPECT_THAT(reader.progress(), SizeIs(3));
  EXPECT_THAT(reader.transactions(), DoubleNear(2827.3 + 3526.7 + 2617.4, 1e-6));
  EXPECT_THAT(reader.messages(), AllOf(HasSubstr("aborted in"), Not(HasSubstr("progress"))));
}

TEST(PgbenchErrorReader, WaitsForAFileThatIsNotThere) {
  PgbenchErrorReader reader("/nowhere/err");
  reader.read_more();
  EXPECT_EQ(reader.transactions(), 0);
}

/// A window that ended at the time of the lines of these tests, or `later` seconds behind it.
TransactionLog read_logs(const TemporaryDirectory& directory, double share = 1, double later = 0,
                         double seconds = 1000) {
  using std::chrono::microseconds;
  const microseconds end(1'700'000'000'123'456 + static_cast<std::int64_t>(later * 1e6));
  return read_transaction_logs(directory.path() + "/log", share,
                               std::chrono::system_clock::time_point(end), seconds);
}

TEST(TransactionLogs, HaveExactOrderStatistics) {
  const TemporaryDirectory directory;
  // 1 … 1000 µs in three files, as three threads write them; then what is none.
  std::string logs[3];
  for (int latency = 1; latency <= 1000; latency++) {
    logs[latency % 3] += "0 1 " + std::to_string(latency) + " 0 1700000000 123456\n";
  }
  directory.write("log.4711", logs[0] + "1 2 failed 0 1700000000 123456\n");
  directory.write("log.4711.1", logs[1] + "1 2 skipped 0 1700000000 123456 17\n");
  directory.write("log.4711.2", logs[2] + "2 1 99999 0 17");  // cut when it was killed
  directory.write("log.old", "0 1 99999 0 1700000000 123456\n");
  directory.write("catalog.4711", "0 1 99999 0 1700000000 123456\n");
  const auto latencies = read_logs(directory).latency;
  ASSERT_TRUE(latencies);
  EXPECT_EQ(latencies->logged, 1000u);
  EXPECT_NEAR(latencies->stddev_us, std::sqrt((1000.0 * 1000 - 1) / 12), 1e-6);
  EXPECT_EQ(latencies->p50_us, 500);
  EXPECT_EQ(latencies->p95_us, 950);
  EXPECT_EQ(latencies->p99_us, 990);
  EXPECT_EQ(latencies->p999_us, 999);
  EXPECT_EQ(latencies->max_us, 1000);
}

TEST(TransactionLogs, HideNoStall) {
  // A 30 s stall behind a good p99, in the format with lag and retries.
  const TemporaryDirectory directory;
  std::string log;
  for (int i = 0; i < 9999; i++) log += "3 17 120 0 1700000000 123456 5 0\n";
  directory.write("log.1", log + "3 17 30000000 0 1700000030 123456 5 0\n");
  const auto latencies = read_logs(directory).latency;
  ASSERT_TRUE(latencies);
  EXPECT_EQ(latencies->p999_us, 120);
  EXPECT_EQ(latencies->max_us, 30'000'000);
}

TEST(TransactionLogs, TellWhatEndedInEachSecondSinceTheFirstBegan) {
  const TemporaryDirectory directory;
  // The first began at .100000: seconds begin there. The second file's first began a bit earlier.
  directory.write("log.1",
                  "0 1 23456 0 1700000000 123456\n"
                  "0 2 100 0 1700000001 99999\n"
                  "0 3 100 0 1700000001 100000\n"
                  "0 4 failed 0 1700000001 100001\n");
  directory.write("log.1.1",
                  "1 1 100 0 1700000000 99990\n"
                  "1 2 100 0 1700000003 500000\n"
                  "1 3 100 0 1700000004 200000\n");
  EXPECT_THAT(read_logs(directory, 1, 4).per_second, ElementsAre(3, 1, 0, 1));
  EXPECT_THAT(read_logs(directory, 0.25, 4).per_second, ElementsAre(12, 4, 0, 4));
}

TEST(TransactionLogs, HaveNoSecondThatWasNotWhole) {
  const TemporaryDirectory directory;
  directory.write("log.1",
                  "0 1 100 0 1700000000 123456\n"
                  "0 2 100 0 1700000001 223456\n");
  EXPECT_THAT(read_logs(directory, 1, 0.9).per_second, ElementsAre());
  EXPECT_THAT(read_logs(directory, 1, 1.9).per_second, ElementsAre(1));
  // Clients that stood still at the end did nothing, which is not the same as no seconds.
  EXPECT_THAT(read_logs(directory, 1, 4.5).per_second, ElementsAre(1, 1, 0, 0));
}

TEST(TransactionLogs, AreNotMisledByAWallClockThatWasSet) {
  const TemporaryDirectory directory;
  directory.write("log.1",
                  "0 1 100 0 1700000000 123456\n"
                  "0 2 100 0 1900000000 223456\n"
                  "0 3 100 0 1500000000 223456\n");
  EXPECT_THAT(read_logs(directory, 1, 2e8, 2.5).per_second, ElementsAre(2, 0));
  EXPECT_THAT(read_logs(directory, 1, -2e8, 2.5).per_second, ElementsAre());
}

TEST(TransactionLogs, AreAbsentWhenNothingWasLogged) {
  const TemporaryDirectory directory;
  EXPECT_EQ(read_logs(directory).latency, std::nullopt);
  directory.write("log.1", "0 1 failed 0 1700000000 123456\n");
  EXPECT_EQ(read_logs(directory).latency, std::nullopt);
  EXPECT_THAT(read_logs(directory).per_second, ElementsAre());
}

}  // namespace
}  // namespace numabench
