#include "runner/engines/postgres/window_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace numabench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// A window of ten seconds: 40,000 point queries, 2,000 misses, a pool of 1024 buffers.
class WindowRecordTest : public ::testing::Test {
 protected:
  WindowRecordTest() {
    experiment.placements = {{"free", {}, {}}};
    SqlRole role;
    role.name = "clients";
    role.clients = 8;
    role.pages_per_transaction = 4;
    sql.roles = {role};
    record.version_num = 150018;
    record.window_s = 10;
    record.before.heap_hit = record.before.heap_read = 0;
    record.before.index_hit = record.before.index_read = 0;
    record.before.database_hit = record.before.database_read = 0;
    record.before.buffers_allocated = 0;
    record.before.hand = 1000;
    record.after = record.before;
    record.after.heap_hit = 38'500;
    record.after.heap_read = 1'500;
    record.after.index_hit = 119'500;
    record.after.index_read = 500;
    record.after.buffers_allocated = 2'000;
    record.after.hand = 1000 + 14'000;
    record.sweep_reason = "no counters here";
    record.pool_before = {1024, 1024, {0, 1024}};
    record.pool_after = {1024, 1000, {400, 300, 100, 100, 50, 50}};
    record.server_cpus = 2;
    record.client_cpus = 2;
    record.server_cpu_s = 10;
    PgbenchRun::Result result;
    result.summary.tps = 4000;
    result.summary.transactions = 40'000;
    record.clients = {result};
  }

  CellSetup setup() const {
    return {experiment,   host,    arm, *workload, experiment.placements[0],
            {1024, 1.15}, 8 << 20, 8,   regime};
  }
  std::vector<MetricValue> values(const WindowRecord* counted = nullptr) const {
    return record_values(setup(), sql, record, counted, 8 << 20);
  }
  MetricValue value(const std::string& metric, const WindowRecord* counted = nullptr) const {
    const auto all = values(counted);
    const auto found = std::ranges::find(all, metric, &MetricValue::metric);
    return found == all.end() ? MetricValue::absent(metric, "NOT IN THE LIST") : *found;
  }
  std::vector<std::string> warnings() const {
    std::vector<std::string> texts;
    for (const EventRecord& event : record_events(setup(), sql, record, values())) {
      if (event.severity == "warning") texts.push_back(event.text);
    }
    return texts;
  }
  static SweepTotals totals(std::uint64_t ticks, std::uint64_t sweeps) {
    SweepTotals totals;
    totals.calls = totals.sweeps = sweeps;
    totals.ticks = ticks;
    totals.longest = 500;
    totals.backends = 8;
    totals.histogram = {0, sweeps};
    return totals;
  }

  Experiment experiment;
  Host host{"local", Topology::of_synthetic("pack:1 core:2 pu:1"), {}};
  Arm arm;
  std::unique_ptr<Workload> workload = make_workload("zipfian", {});
  Regime regime = Regime::kPageCache;
  SqlWorkload sql;
  WindowRecord record;
};

TEST_F(WindowRecordTest, TakesTheHandWhereNothingIsCounted) {
  EXPECT_EQ(value("adv_per_victim").value, 7);
  EXPECT_EQ(value("adv_per_victim_hand").value, 7);
  EXPECT_EQ(value("tail").reason, "no counters here");
  EXPECT_FALSE(value("adv_disagreement_pct").value);
  EXPECT_NEAR(*value("laps").value, 14'000 / 1024.0, 1e-9);
}

TEST_F(WindowRecordTest, BelievesTheCountersAndKeepsBoth) {
  record.counted = true;
  record.sweep = totals(13'860, 2'000);
  EXPECT_NEAR(*value("adv_per_victim", &record).value, 6.93, 1e-9);
  EXPECT_EQ(value("adv_per_victim_hand", &record).value, 7);
  EXPECT_NEAR(*value("adv_disagreement_pct", &record).value, 1.0101, 1e-4);
  EXPECT_EQ(value("tail", &record).value, 500);
}

TEST_F(WindowRecordTest, ComparesTheTwoBinariesOfARun) {
  WindowRecord counted = record;
  counted.counted = true;
  counted.sweep = totals(14'000, 2'000);
  counted.clients[0].summary.tps = 3'980;
  EXPECT_EQ(value("tps", &counted).value, 4000);
  EXPECT_EQ(value("tps_counted", &counted).value, 3980);
  EXPECT_NEAR(*value("counting_overhead_pct", &counted).value, 0.5025, 1e-4);
  EXPECT_FALSE(value("tps_counted").value);
}

TEST_F(WindowRecordTest, GivesEveryMetricOnceAndInTheCatalogue) {
  std::set<std::string> seen;
  for (const MetricValue& one : values()) {
    EXPECT_TRUE(seen.insert(one.metric).second) << one.metric << " twice";
    EXPECT_NE(find_metric(one.metric), nullptr) << one.metric;
    EXPECT_EQ(one.value.has_value(), one.reason.empty()) << one.metric;
  }
}

TEST_F(WindowRecordTest, SharesThePoolByUsage) {
  EXPECT_EQ(value("occupancy_before_pct").value, 100);
  EXPECT_NEAR(*value("occupancy_after_pct").value, 97.65625, 1e-9);
  EXPECT_EQ(value("usage0_buffers").value, 400);
  EXPECT_EQ(value("usage5_buffers").value, 50);
}

TEST_F(WindowRecordTest, WarnsOfTooFewLaps) {
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("laps"))));
  record.after.hand = 1000 + 2'000;
  EXPECT_THAT(warnings(), Contains(HasSubstr("the hand made 1.95 laps")));
}

TEST_F(WindowRecordTest, WarnsOfRealIoThatCameFromMemory) {
  record.cached_share = 0.97;
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("page cache"))));
  regime = Regime::kRealIo;
  EXPECT_THAT(warnings(), Contains(HasSubstr("97 % of the data were in the page cache")));
}

TEST_F(WindowRecordTest, KeepsWhatIsNeededToRepeatTheRun) {
  record.settings = {{"work_mem", "64MB", "4MB", "command line"}};
  record.command_lines = "clients: pgbench -n\n";
  record.clients[0].report = "tps = 4000\n";
  const auto artifacts = record_artifacts(record, sql.roles, "counted-");
  const auto text = [&](const std::string& name) {
    const auto found = std::ranges::find(artifacts, name, &ArtifactRecord::name);
    return found == artifacts.end() ? "NOT THERE" : found->bytes;
  };
  EXPECT_EQ(text("counted-settings.csv"),
            "name,value,default,source\nwork_mem,64MB,4MB,command line\n");
  EXPECT_EQ(text("counted-commands.txt"), "clients: pgbench -n\n");
  EXPECT_EQ(text("counted-pgbench-clients.txt"), "tps = 4000\n");
}

}  // namespace
}  // namespace numabench
