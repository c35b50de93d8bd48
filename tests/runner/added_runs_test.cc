// --add-runs: which cells get more runs, how many, and in what blocks.
#include "runner/added_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "fake_engine.h"
#include "hosts/error.h"

namespace numabench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ParseAddRuns, ReadsEitherPart) {
  EXPECT_EQ(parse_add_runs("until=0.5%,max=20").until_percent, 0.5);
  EXPECT_EQ(parse_add_runs("until=0.5%,max=20").max, 20);
  EXPECT_EQ(parse_add_runs("max=9").until_percent, kResolutionPercent);
  EXPECT_EQ(parse_add_runs("until=1").max, 15);
  for (const char* wrong : {"0.5%", "until=", "until=-1%", "max=2.5", "max=0", "until=1%;max=3"}) {
    try {
      parse_add_runs(wrong);
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), HasSubstr("until=0.5%,max=15"));
    }
  }
}

/// stock, its copy and two others over four groups, three runs each; the comparison is made up.
class AddBlocks : public ::testing::Test {
 protected:
  AddBlocks() {
    Arm copy = experiment.arms[0];
    copy.name = "stock-aa";
    copy.copy_of = "stock";
    Arm third = experiment.arms[1];
    third.name = "third";
    for (const Arm& arm : {copy, third}) {
      experiment.arms.push_back(arm);
      for (std::size_t i = 0; i < 4; ++i) {
        FactorSet cell = experiment.cells[i];
        cell.arm = arm.name;
        experiment.cells.push_back(cell);
      }
    }
    experiment.runs = 3;
    plan = make_plan(experiment, small_host(), engine);
    comparison.judged_metrics = {"tps"};
    comparison.tables.emplace_back();
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      stored.cells.push_back(to_record(experiment, plan, i));
      ComparisonRow row;
      row.cell = stored.cells.back();
      row.is_copy = row.cell.arm == "stock-aa";
      row.is_baseline = row.cell.arm == "stock";
      row.values.push_back(
          {.metric = "tps", .summary = {}, .percent_of_baseline = {}, .reason = ""});
      comparison.tables[0].rows.push_back(row);
      if (!row.is_baseline) judge_cell(i, VerdictKind::kBetter, 0.01);
    }
  }
  void judge_cell(std::size_t cell, VerdictKind kind, double noise) {
    Judgement judgement;
    judgement.difference.noise = noise;
    judgement.verdict.kind = kind;
    judgement.verdict.p = 0.001;
    comparison.tables[0].rows[cell].values[0].judgement = judgement;
  }
  std::size_t cell_of(const std::string& arm, std::size_t group) {
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      if (plan.cells[i].factors.arm == arm && plan.cells[i].group == plan.cells[group].group)
        return i;
    }
    return plan.cells.size();
  }
  std::vector<PlannedRun> add(const AddRuns& goal) {
    std::vector<PlannedRun> added;
    for (const std::size_t index : add_blocks(experiment, stored, comparison, goal, plan)) {
      added.push_back(plan.runs[index]);
    }
    return added;
  }

  FakeClock clock;
  FakeEngine engine{clock};
  Experiment experiment = small_experiment();
  Plan plan;
  StoredExperiment stored;
  Comparison comparison;
};

TEST_F(AddBlocks, AddsNothingWhereEveryVerdictIsReached) {
  EXPECT_THAT(add({}), IsEmpty());
  judge_cell(cell_of("third", 0), VerdictKind::kUnstable, 0.3);
  EXPECT_THAT(add({}), IsEmpty()) << "more runs do not help one that is unstable";
}

// It may be luck: of the looks that are still to come each has its share of the level.
TEST_F(AddBlocks, ADifferenceThatHardlyStandsIsLookedAtAgain) {
  const auto judge_at = [&](double p) {
    judge_cell(cell_of("third", 0), VerdictKind::kBetter, 0.01);
    comparison.tables[0].rows[cell_of("third", 0)].values[0].judgement->verdict.p = p;
  };
  judge_at(0.025);
  EXPECT_THAT(add({}), IsEmpty());
  judge_at(0.026);
  EXPECT_EQ(add({}).size(), 3u * 3) << "from three to six, the fewest that carry a verdict";
}

TEST_F(AddBlocks, RepeatsTheOpenArmWithTheBaselineAndItsCopyInWholeBlocks) {
  // (1.96 · 0.02 ÷ log 1.01)² = 15.5: sixteen runs for ±1 %.
  judge_cell(cell_of("third", 1), VerdictKind::kInconclusive, 0.02);
  const std::vector<PlannedRun> added = add({.until_percent = 1, .max = 40});
  std::map<int, std::vector<PlannedRun>> blocks;
  for (const PlannedRun& run : added) blocks[run.block].push_back(run);
  ASSERT_EQ(blocks.size(), 13u) << "from four to sixteen";
  int repetition = 3;
  std::set<std::size_t> first;
  for (const auto& [block, runs] : blocks) {
    ++repetition;
    std::set<std::string> arms;
    for (const PlannedRun& run : runs) {
      arms.insert(plan.cells[run.cell].factors.arm);
      EXPECT_EQ(run.repetition, repetition);
      EXPECT_EQ(run.addition, 1);
      EXPECT_EQ(run.seed, runs.front().seed);
      EXPECT_EQ(plan.cells[run.cell].group, plan.cells[1].group);
    }
    EXPECT_THAT(arms, ElementsAre("stock", "stock-aa", "third"));
    EXPECT_EQ(runs.size(), 3u);
    first.insert(runs.front().cell);
  }
  EXPECT_EQ(first.size(), 3u) << "each arm is first in some block";
}

TEST_F(AddBlocks, StopsAtTheMostRunsAndCountsRounds) {
  judge_cell(cell_of("third", 1), VerdictKind::kInconclusive, 0.2);
  EXPECT_EQ(add({.until_percent = 1, .max = 5}).size(), 2u * 3);
  EXPECT_THAT(add({.until_percent = 1, .max = 5}), IsEmpty());
  const std::vector<PlannedRun> later = add({.until_percent = 1, .max = 6});
  ASSERT_EQ(later.size(), 3u);
  EXPECT_EQ(later[0].addition, 2);
  EXPECT_EQ(later[0].repetition, 6);
}

}  // namespace
}  // namespace numabench
