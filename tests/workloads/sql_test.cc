// The SQL form of the workloads against their page form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/hosts/error_of.h"
#include "tests/paths.h"
#include "workloads/scripts/scripts.h"
#include "workloads/sql_workload.h"
#include "workloads/workload.h"

namespace numabench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Pair;
using testing::StartsWith;

constexpr WorkloadSize kSize{.pool_pages = 16384, .ratio = 1.15};

class SqlOfAccounts : public testing::TestWithParam<const char*> {};

TEST_P(SqlOfAccounts, LoadsTheRowsWhoseHeapPagesTheStreamsAskFor) {
  for (const char* ratio_of : {"working_set", "heap"}) {
    const auto workload = make_workload(GetParam(), {{"ratio_of", ratio_of}});
    const SqlWorkload sql = workload->sql(kSize, 24);
    ASSERT_EQ(sql.tables.size(), 1u);
    EXPECT_EQ(sql.tables[0].name, "pgbench_accounts");
    EXPECT_TRUE(sql.tables[0].primary_key);
    EXPECT_EQ(sql.tables[0].rows, 61 * workload->dataset(kSize).pages(Relation::Kind::kHeap));
    EXPECT_THAT(sql.working_set, ElementsAre("pgbench_accounts"));
    EXPECT_FALSE(sql.writes);
  }
}

TEST_P(SqlOfAccounts, HasTheClientsOfTheStreams) {
  const auto workload = make_workload(GetParam(), {});
  const SqlWorkload sql = workload->sql(kSize, 24);
  const std::vector<Role> roles = workload->roles(24);
  ASSERT_EQ(sql.roles.size(), roles.size());
  for (std::size_t i = 0; i < roles.size(); i++) {
    EXPECT_EQ(sql.roles[i].name, roles[i].name);
    EXPECT_EQ(sql.roles[i].kind, roles[i].kind);
    EXPECT_EQ(sql.roles[i].clients, roles[i].count);
    EXPECT_EQ(sql.roles[i].transactions, 0);
    EXPECT_EQ(sql.roles[i].variables.at("rows"), std::to_string(sql.tables[0].rows));
  }
  EXPECT_EQ(sql.roles[0].pages_per_transaction, 4);
}

TEST_P(SqlOfAccounts, FillsThePoolInEveryOrderButTheRandomOne) {
  const auto fill_of = [&](const char* fill) {
    return make_workload(GetParam(), {{"fill", fill}})->sql(kSize, 1).fill;
  };
  EXPECT_EQ(fill_of("cold"), FillOrder::kCold);
  EXPECT_EQ(fill_of("index_first"), FillOrder::kIndexFirst);
  EXPECT_EQ(fill_of("heap_then_index"), FillOrder::kHeapThenIndex);
  EXPECT_THAT(error_of([&] { fill_of("random"); }).what(),
              AllOf(HasSubstr("random"), HasSubstr("embedded")));
}

INSTANTIATE_TEST_SUITE_P(Workloads, SqlOfAccounts,
                         testing::Values("zipfian", "uniform", "hotscan"));

TEST(SqlOfZipfian, IsRefusedForExponentsThatPgbenchDoesNotTake) {
  for (const char* s : {"0.99", "1", "1.0009", "1000.5"}) {
    for (const char* name : {"zipfian", "hotscan"}) {
      const auto workload = make_workload(name, {{"s", s}});
      const Error error = error_of([&] { workload->sql(kSize, 1); });
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), AllOf(HasSubstr(s), HasSubstr("1.001 to 1000")));
    }
  }
  for (const char* s : {"1.001", "1.1", "1000"}) {
    const SqlWorkload sql = make_workload("zipfian", {{"s", s}})->sql(kSize, 1);
    EXPECT_EQ(sql.roles[0].variables.at("s"), s);
  }
}

TEST(SqlOfZipfian, ScattersTheHotRowsAlikeInTheWarmUpAndTheWindow) {
  const SqlRole scattered = make_workload("zipfian", {})->sql(kSize, 1).roles[0];
  EXPECT_EQ(scattered.scripts[0].name, "zipfian-permuted.pgb");
  EXPECT_THAT(scattered.variables, Contains(Key("default_seed")));
  const SqlRole ordered = make_workload("zipfian", {{"permute", "false"}})->sql(kSize, 1).roles[0];
  EXPECT_EQ(ordered.scripts[0].name, "zipfian.pgb");
}

TEST(SqlOfHotscan, ScansByTheIndexAtARateOfItsOwn) {
  const auto workload =
      make_workload("hotscan", {{"scanners", "3"}, {"scan_rate", "2.5"}, {"range_rows", "500"}});
  const SqlRole scanners = workload->sql(kSize, 24).roles[1];
  EXPECT_EQ(scanners.rate, 2.5);
  EXPECT_THAT(scanners.settings, AllOf(Contains(Pair("enable_seqscan", "off")),
                                       Contains(Pair("enable_bitmapscan", "off"))));
  EXPECT_EQ(scanners.variables.at("range_rows"), "500");
  EXPECT_FALSE(workload->has_streams());
  EXPECT_TRUE(make_workload("hotscan", {})->has_streams());
}

TEST(SqlOfHotscan, ScansNoMoreThanTheTable) {
  const SqlWorkload sql = make_workload("hotscan", {{"range_rows", "2000000000"}})->sql(kSize, 1);
  EXPECT_EQ(sql.roles[1].variables.at("range_rows"), std::to_string(sql.tables[0].rows));
}

TEST(SqlOfSeqscan, LoadsTablesInPartitionsThatNeedNoRing) {
  const ParameterValues values{{"tables", "2"}, {"partitions", "50"}};
  const SqlWorkload sql = make_workload("seqscan", values)->sql(kSize, 8);
  ASSERT_EQ(sql.tables.size(), 2u);
  for (const SqlTable& table : sql.tables) {
    EXPECT_EQ(table.partitions, 50);
    EXPECT_FALSE(table.primary_key);
    EXPECT_EQ(table.rows, 50u * 188 * 61);  // 16384 × 1.15 ÷ 100 is 188.4 pages
  }
  EXPECT_TRUE(sql.partitioned_scan);
  EXPECT_EQ(sql.roles[0].pages_per_transaction, 50 * 188);
  EXPECT_THAT(sql.roles[0].settings, AllOf(Contains(Pair("enable_indexonlyscan", "off")),
                                           Contains(Pair("max_parallel_workers_per_gather", "0"))));
}

TEST(SqlOfSeqscan, ExpectsARingForPartitionsOverAQuarterOfThePool) {
  const auto partitioned = [](const char* partitions) {
    const auto workload = make_workload("seqscan", {{"partitions", partitions}});
    return workload->sql({.pool_pages = 1000, .ratio = 1}, 1).partitioned_scan;
  };
  EXPECT_FALSE(partitioned("1"));
  EXPECT_FALSE(partitioned("3"));
  EXPECT_TRUE(partitioned("4"));
}

TEST(SqlOfSeqscan, AsksTheQueryThatWasChosen) {
  const auto text = [](const char* query) {
    return make_workload("seqscan", {{"query", query}})->sql(kSize, 1).roles[0].scripts[0].text;
  };
  EXPECT_THAT(text("count"), HasSubstr("SELECT count(*) FROM table_1;"));
  EXPECT_THAT(text("offset"), HasSubstr("SELECT filler FROM table_1 OFFSET :rows;"));
}

TEST(PgbenchScripts, AreTheFilesOfTheFolder) {
  for (const char* name : {"uniform", "zipfian", "zipfian-permuted", "range-scan", "seqscan-count",
                           "seqscan-offset", "prewarm"}) {
    std::ifstream file(source_dir() + "/workloads/scripts/" + name + ".pgb");
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(pgbench_script(name).text, text.str()) << name;
    EXPECT_THAT(text.str(), AllOf(StartsWith("-- "), HasSubstr("--   pgbench"))) << name;
  }
}

TEST(PgbenchScripts, GiveEachClientItsTable) {
  EXPECT_EQ(pgbench_script_for("prewarm", {"table_1", "table_2", "table_3"}).text,
            "\\set table :client_id % 3\n"
            "\\if :table = 0\n"
            "SELECT pg_prewarm('table_1');\n"
            "\\elif :table = 1\n"
            "SELECT pg_prewarm('table_2');\n"
            "\\elif :table = 2\n"
            "SELECT pg_prewarm('table_3');\n"
            "\\endif\n");
  EXPECT_EQ(pgbench_script_for("prewarm", {"other"}).text, "SELECT pg_prewarm('other');\n");
}

}  // namespace
}  // namespace numabench
