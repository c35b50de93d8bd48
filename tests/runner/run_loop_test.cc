#include "runner/run_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "fake_engine.h"

namespace numabench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RecordingObserver : public RunObserver {
 public:
  explicit RecordingObserver(std::vector<std::string>& log) : log_(log) {}
  void begin(const PlannedRun&) override { log_.emplace_back("begin"); }
  void stage(const std::string& text) override { stages.push_back(text); }
  void finish(const PlannedRun&, RunRecord record) override {
    log_.emplace_back("finish");
    records.push_back(std::move(record));
  }

  std::vector<RunRecord> records;
  std::vector<std::string> stages;

 private:
  std::vector<std::string>& log_;
};

class RunLoopTest : public ::testing::Test {
 protected:
  LoopOutcome execute(const std::vector<std::size_t>& pending) {
    RunLoop loop(experiment, host, plan, engine, clock, observer, [this] { return interrupted; });
    return loop.execute(pending);
  }

  FakeClock clock;
  FakeEngine engine{clock};
  RecordingObserver observer{engine.log};
  Experiment experiment = small_experiment();
  Host host = small_host();
  Plan plan = make_plan(experiment, host, engine);
  bool interrupted = false;
};

TEST_F(RunLoopTest, TakesARunThroughEveryStageAndKeepsItBeforeTheNextBegins) {
  const LoopOutcome outcome = execute({0, 1});
  EXPECT_EQ(outcome.ok, 2);
  EXPECT_EQ(outcome.failed, 0);
  const std::string first_arm = plan.cells[plan.runs[0].cell].factors.arm;
  const std::string second_arm = plan.cells[plan.runs[1].cell].factors.arm;
  EXPECT_THAT(engine.log,
              ElementsAre("begin", "prepare " + first_arm + " zipfian", "start", "reset_counters",
                          "stats", "stop", "finish", "begin", "prepare " + second_arm + " zipfian",
                          "start", "reset_counters", "stats", "stop", "finish"));
}

TEST_F(RunLoopTest, MeasuresTheWindowThatWasAskedFor) {
  execute({0});
  ASSERT_EQ(engine.window_seconds.size(), 1u);
  EXPECT_NEAR(engine.window_seconds[0], 2.5, 1e-9);
  EXPECT_NEAR(observer.records[0].duration_seconds, 3.5, 1e-9);
}

TEST_F(RunLoopTest, SamplesEverySecondOfTheWindow) {
  execute({0});
  std::vector<double> times;
  for (const SampleRecord& sample : observer.records[0].samples) {
    if (sample.metric != "tps") continue;
    times.push_back(sample.t_seconds);
    EXPECT_NEAR(sample.value, 1000, 2);
  }
  ASSERT_EQ(times.size(), 2u);
  EXPECT_NEAR(times[0], 1, 0.06);
  EXPECT_NEAR(times[1], 2, 0.11);
}

TEST_F(RunLoopTest, SamplesTheHitRatioOfTheInterval) {
  execute({0});
  int seen = 0;
  for (const SampleRecord& sample : observer.records[0].samples) {
    if (sample.metric != "hit_pct") continue;
    EXPECT_NEAR(sample.value, 75, 0.1);  // the fake reads one page of each transaction's four
    ++seen;
  }
  EXPECT_EQ(seen, 2);
}

TEST_F(RunLoopTest, EndsASpanInLapsWhenTheHandHasGoneRoundOftenEnough) {
  experiment.duration = {3, Span::Unit::kLaps};
  engine.laps_per_second = 0.5;
  execute({0});
  EXPECT_NEAR(engine.window_seconds[0], 6, 0.06);
  EXPECT_TRUE(observer.records[0].events.empty());
}

TEST_F(RunLoopTest, SaysWhenALimitEndedASpanInLaps) {
  experiment.warmup = {3, Span::Unit::kLaps};
  experiment.warmup_limit_seconds = 10;
  engine.laps_per_second = 0.1;
  execute({0});
  ASSERT_EQ(observer.records[0].events.size(), 1u);
  EXPECT_EQ(observer.records[0].events[0].severity, "warning");
  EXPECT_THAT(observer.records[0].events[0].text, HasSubstr("1.00 of 3 laps"));
  EXPECT_THAT(observer.records[0].events[0].text, HasSubstr("raise warmup_limit"));
}

TEST_F(RunLoopTest, EndsTheWindowWhenTheClientsHaveDoneAllTheyHadTo) {
  engine.finishes_at_seconds = 1.5;
  execute({0});
  EXPECT_NEAR(engine.window_seconds[0], 1.5, 0.06);
  EXPECT_TRUE(observer.records[0].events.empty());
}

TEST_F(RunLoopTest, TakesASecondPassWhoseSamplesAreNotKept) {
  engine.passes_left = 1;
  execute({0});
  const std::string arm = plan.cells[plan.runs[0].cell].factors.arm;
  EXPECT_THAT(engine.log,
              ElementsAre("begin", "prepare " + arm + " zipfian", "start", "reset_counters",
                          "start", "reset_counters", "stats", "stop", "finish"));
  const auto& samples = observer.records[0].samples;
  EXPECT_EQ(std::ranges::count(samples, "tps", &SampleRecord::metric), 2);
  const auto& values = observer.records[0].values;
  EXPECT_EQ(std::ranges::count(values, "warmup_s", &MetricValue::metric), 1);
}

TEST_F(RunLoopTest, WarmsUpUntilThePoolIsFullAndTheHitRatioSteady) {
  experiment.warmup = {0, Span::Unit::kSteady};
  experiment.warmup_limit_seconds = 100;
  engine.fills_in_seconds = 30;
  execute({0});
  ASSERT_EQ(observer.records[0].values.front().metric, "warmup_s");
  // Ten seconds of a full pool behind the thirty in which it filled.
  EXPECT_NEAR(*observer.records[0].values.front().value, 40, 1.5);
  EXPECT_TRUE(observer.records[0].events.empty());
}

TEST_F(RunLoopTest, SaysWhenItNeverBecameSteady) {
  experiment.warmup = {0, Span::Unit::kSteady};
  experiment.warmup_limit_seconds = 20;
  engine.fills_in_seconds = 1000;
  execute({0});
  ASSERT_EQ(observer.records[0].events.size(), 1u);
  EXPECT_THAT(observer.records[0].events[0].text, HasSubstr("limit of 20 s before the pool"));
}

TEST_F(RunLoopTest, VoidsARunWhosePoolWasNotFullWhereThatIsRequired) {
  experiment.require_full_pool = true;
  engine.occupancy_before_pct = 88;
  execute({0});
  EXPECT_EQ(observer.records[0].status, RunStatus::kVoid);
  EXPECT_THAT(observer.records[0].reason,
              HasSubstr("pool_not_full: how full the pool was as the window began: 88.0 %"));

  engine.occupancy_before_pct = 100;
  execute({1});
  EXPECT_EQ(observer.records[1].status, RunStatus::kOk);
}

/// Reads one value of one metric.
class OneSensor : public Sensor {
 public:
  OneSensor(std::string metric, double value) : metric_(std::move(metric)), value_(value) {}
  std::vector<MetricValue> read(double) override { return {MetricValue::of(metric_, value_)}; }

 private:
  std::string metric_;
  double value_;
};

class MonitoredRunLoopTest : public RunLoopTest {
 protected:
  RunRecord run_with(const std::string& metric, double value) {
    RunLoop loop(
        experiment, host, plan, engine, clock, observer, [] { return false; },
        [&](const MonitorTarget& target) {
          targets.push_back(target);
          std::vector<std::unique_ptr<Sensor>> sensors;
          sensors.push_back(std::make_unique<OneSensor>(metric, value));
          return std::make_unique<Monitor>(std::move(sensors));
        });
    loop.execute({0});
    return observer.records.back();
  }
  std::vector<MonitorTarget> targets;
};

TEST_F(MonitoredRunLoopTest, KeepsTheSecondsAndTheValueOfWhatTheMonitorsSee) {
  const RunRecord record = run_with("run_queue", 3);
  EXPECT_EQ(find_value(record.values, "run_queue")->value, 3);
  EXPECT_EQ(std::ranges::count(record.samples, "run_queue", &SampleRecord::metric), 3)
      << "as it began and after each second";
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0].node_of_cpu.size(), 4u);
}

TEST_F(MonitoredRunLoopTest, AnEnginesOwnValueTakesThePlaceOfTheMonitors) {
  const RunRecord record = run_with("tps", 5);
  EXPECT_EQ(std::ranges::count(record.values, "tps", &MetricValue::metric), 1);
  EXPECT_EQ(find_value(record.values, "tps")->value, 1000);
}

TEST_F(MonitoredRunLoopTest, VoidsWhatAnyLengthCannotExcuse) {
  const RunRecord record = run_with("oom_kills", 1);
  EXPECT_EQ(record.status, RunStatus::kVoid);
  EXPECT_THAT(record.reason, HasSubstr("oom_kill: "));
}

TEST_F(MonitoredRunLoopTest, OnlyWarnsOfOtherLoadInAShortWindowAndVoidsALongOne) {
  RunRecord record = run_with("other_cpu_pct", 50);
  EXPECT_EQ(record.status, RunStatus::kOk);
  ASSERT_EQ(record.events.size(), 1u);
  EXPECT_THAT(record.events[0].text, HasSubstr("other_load: "));
  experiment.duration = {60, Span::Unit::kSeconds};
  record = run_with("other_cpu_pct", 50);
  EXPECT_EQ(record.status, RunStatus::kVoid);
  experiment.voids["other_load"] = {{}, RuleAction::kWarn};
  EXPECT_EQ(run_with("other_cpu_pct", 50).status, RunStatus::kOk);
}

TEST_F(MonitoredRunLoopTest, AFailedRunKeepsItsSecondsAndTheRulesThatItBroke) {
  engine.dies_at_seconds = clock.now_seconds() + 2.5;
  const RunRecord record = run_with("oom_kills", 1);
  EXPECT_EQ(record.status, RunStatus::kFailed);
  EXPECT_GT(std::ranges::count(record.samples, "oom_kills", &SampleRecord::metric), 0);
  ASSERT_EQ(record.events.size(), 1u);
  EXPECT_EQ(record.events[0].severity, "error");
  EXPECT_THAT(record.events[0].text, HasSubstr("oom_kill: "));
}

TEST_F(MonitoredRunLoopTest, WatchesNothingWhereAConfigSaysSo) {
  experiment.monitors.host = false;
  run_with("oom_kills", 1);
  EXPECT_THAT(targets, ::testing::IsEmpty());
}

TEST_F(RunLoopTest, KeepsTheFirstBreachOfEachRuleThatTheEngineSeesMeanwhile) {
  engine.seen_each_second = {{"placement_escaped", "client 3: cpus 0-1, not 0"}};
  execute({0});
  EXPECT_EQ(observer.records[0].status, RunStatus::kVoid);
  EXPECT_THAT(observer.records[0].reason, HasSubstr("client 3: cpus 0-1, not 0"));
  EXPECT_TRUE(observer.records[0].events.empty()) << "seen twice, told once";
}

TEST_F(RunLoopTest, AWindowInWhichNothingFinishedIsVoid) {
  engine.transactions = 0;
  execute({0});
  EXPECT_THAT(observer.records[0].reason, HasSubstr("zero_transactions: "));
}

TEST_F(RunLoopTest, AWindowWhoseSpeedDriftsIsUnsettledAndCountsAllTheSame) {
  experiment.duration = {30, Span::Unit::kSeconds};
  engine.speeds_up_by_a_second = 30;
  execute({0});
  EXPECT_EQ(observer.records[0].status, RunStatus::kOk);
  ASSERT_EQ(observer.records[0].events.size(), 1u);
  EXPECT_THAT(observer.records[0].events[0].text, HasSubstr("unsettled: tps drifted by +"));
  EXPECT_GT(*find_value(observer.records[0].values, "tps_drift_pct")->value, 5);
}

TEST_F(RunLoopTest, TellsHowOldTheServerIsAsTheWindowBegins) {
  execute({0});
  EXPECT_NEAR(*find_value(observer.records[0].values, "server_age_s")->value, 1, 1e-9);
}

TEST_F(RunLoopTest, RecordsAFailedRunWithItsReasonAndGoesOn) {
  engine.dies_at_seconds = clock.now_seconds() + 2;
  const LoopOutcome outcome = execute({0, 1});
  EXPECT_EQ(outcome.failed, 2);
  ASSERT_EQ(observer.records.size(), 2u);
  EXPECT_EQ(observer.records[0].status, RunStatus::kFailed);
  EXPECT_THAT(observer.records[0].reason, HasSubstr("killed by signal 9"));
}

TEST_F(RunLoopTest, AFailedRunKeepsWhatTheEngineHasToShowForIt) {
  engine.fail_in = "prepare";
  execute({0});
  ASSERT_EQ(observer.records[0].artifacts.size(), 1u);
  EXPECT_EQ(observer.records[0].artifacts[0].bytes, "PANIC");
  ASSERT_EQ(observer.records[0].samples.size(), 1u);
  EXPECT_EQ(observer.records[0].samples[0].value, 900);
}

TEST_F(RunLoopTest, ARunThatCannotGoOnBecauseOfARuleIsVoidWithItsReason) {
  engine.dies_at_seconds = clock.now_seconds() + 2.5;
  engine.dies_of = {"server_restarted", "checkpointer process (PID 17) was terminated"};
  engine.seen_each_second = {{"settings_differ", "work_mem"}};
  EXPECT_EQ(execute({0}).failed, 1);
  const RunRecord& record = observer.records[0];
  EXPECT_EQ(record.status, RunStatus::kVoid);
  EXPECT_THAT(record.reason, HasSubstr("settings_differ: work_mem; ")) << "the first that voids it";
  ASSERT_EQ(record.events.size(), 1u);
  EXPECT_THAT(record.events[0].text,
              HasSubstr("server_restarted: checkpointer process (PID 17) was terminated; look"));
}

// There are no numbers that a warning could stand beside.
TEST_F(RunLoopTest, ARunThatCannotGoOnFailsWhereItsRuleOnlyWarns) {
  engine.dies_at_seconds = clock.now_seconds() + 2.5;
  engine.dies_of = {"server_restarted", "it was stopped"};
  experiment.voids["server_restarted"] = {{}, RuleAction::kWarn};
  execute({0});
  EXPECT_EQ(observer.records[0].status, RunStatus::kFailed);
  EXPECT_THAT(observer.records[0].reason, HasSubstr("it was stopped; look into"));
}

TEST_F(RunLoopTest, StopsTheEngineWhenPrepareFails) {
  engine.fail_in = "prepare";
  execute({0});
  EXPECT_EQ(engine.log.back(), "finish");
  EXPECT_EQ(engine.log[engine.log.size() - 2], "stop");
  EXPECT_EQ(observer.records[0].status, RunStatus::kFailed);
}

TEST_F(RunLoopTest, AVoidRunKeepsItsValuesAndItsReason) {
  engine.escaped = "client 3 runs on CPUs 0-1";
  const LoopOutcome outcome = execute({0});
  EXPECT_EQ(outcome.failed, 1);
  EXPECT_EQ(observer.records[0].status, RunStatus::kVoid);
  EXPECT_THAT(observer.records[0].reason,
              HasSubstr("placement_escaped: client 3 runs on CPUs 0-1; "));
  const auto& values = observer.records[0].values;
  const auto tps = std::ranges::find(values, "tps", &MetricValue::metric);
  ASSERT_NE(tps, values.end());
  EXPECT_EQ(tps->value, 1000);
}

TEST_F(RunLoopTest, AnInterruptLeavesNoRecordOfTheRunAndStopsTheEngine) {
  const double begin = clock.now_seconds();
  clock.on_sleep = [this, begin](double now) { interrupted = now >= begin + 5; };
  const LoopOutcome outcome = execute({0, 1, 2});
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.ok, 1);
  EXPECT_EQ(observer.records.size(), 1u);
  EXPECT_EQ(engine.log.back(), "stop");
}

TEST_F(RunLoopTest, AnswersAnInterruptWithinATenthOfASecond) {
  clock.on_sleep = [this](double) { interrupted = true; };
  const double begin = clock.now_seconds();
  execute({0});
  EXPECT_LE(clock.now_seconds() - begin, 0.1);
}

TEST_F(RunLoopTest, GivesTheEngineTheSeedOfTheBlock) {
  std::vector<std::size_t> all(plan.runs.size());
  std::iota(all.begin(), all.end(), 0u);
  execute(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(engine.seeds[i], plan.runs[i].seed);
    EXPECT_EQ(observer.records[i].seed, plan.runs[i].seed);
    EXPECT_EQ(observer.records[i].run_order, static_cast<int>(i) + 1);
  }
}

}  // namespace
}  // namespace numabench
