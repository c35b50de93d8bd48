#include "reports/order_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace numabench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(KruskalWallis, AgreesWithTheTextbook) {
  // Ranks 1 2 3 / 4 5 6 / 7 8 9: H = 12/90 · (36+225+576)/3 − 30 = 7.2; exp(−H/2) with two degrees.
  EXPECT_NEAR(kruskal_wallis_p({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}), std::exp(-3.6), 1e-12);
  EXPECT_EQ(kruskal_wallis_p({{1, 2}, {}}), 1);
  EXPECT_EQ(kruskal_wallis_p({{5, 5}, {5, 5, 5}}), 1);
  EXPECT_EQ(kruskal_wallis_p({}), 1);
}

TEST(KruskalWallis, FindsADifferenceInNoiseAsOftenAsItsPSays) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  int found = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> groups(3, std::vector<double>(12));
    for (auto& group : groups) std::ranges::generate(group, [&] { return normal(random); });
    found += kruskal_wallis_p(groups) < 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(found) / kTrials, 0.05, 0.015);
}

/// `cells` of three runs each, whose tps is 1000·(cell + 1) times what `factor` makes of the run.
std::map<std::int64_t, std::vector<RunRecord>> runs_of(
    int cells, const std::function<double(const RunRecord&)>& factor) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(1, 0.002);
  std::map<std::int64_t, std::vector<RunRecord>> by_cell;
  int order = 0;
  for (int cell = 0; cell < cells; ++cell) {
    for (int repetition = 1; repetition <= 3; ++repetition) {
      RunRecord run;
      run.cell_id = cell;
      run.repetition = repetition;
      run.run_order = ++order;
      run.block_position = (cell + repetition) % 3;
      run.values = {MetricValue::of("server_age_s", 10)};
      run.values.push_back(
          MetricValue::of("tps", 1000.0 * (cell + 1) * factor(run) * noise(random)));
      by_cell[cell].push_back(run);
    }
  }
  return by_cell;
}

TEST(OrderEffects, OfRunsThatOnlyNoiseTellsApartAreNone) {
  EXPECT_THAT(order_notes(runs_of(10, [](const RunRecord&) { return 1; }), {}),
              ElementsAre(AllOf(HasSubstr("the position in the block explains nothing (p="),
                                HasSubstr("the time of day explains nothing (p="),
                                HasSubstr("the time since the server's start hardly varied"))));
}

TEST(OrderEffects, OfThePositionAreFoundThoughTheCellsDifferByFar) {
  const auto second_is_slow = [](const RunRecord& run) {
    return run.block_position == 1 ? 0.97 : 1.0;
  };
  EXPECT_THAT(order_notes(runs_of(10, second_is_slow), {}),
              ElementsAre(HasSubstr("the position in the block explains some of it (p=")));
}

TEST(OrderEffects, AreNotLookedForInAHandfulOfRuns) {
  EXPECT_THAT(order_notes(runs_of(3, [](const RunRecord&) { return 1; }), {}), IsEmpty());
}

TEST(OrderEffects, TheDriftControlStandsBesideTheRunItRepeats) {
  auto runs = runs_of(1, [](const RunRecord&) { return 1; });
  runs[0][0].values = {MetricValue::of("tps", 1000)};
  RunRecord control;
  control.cell_id = 0;
  control.repetition = kDriftControl;
  control.values = {MetricValue::of("tps", 950)};
  EXPECT_THAT(order_notes(runs, {control}),
              ElementsAre("drift: the first cell repeated last has 950 tps, -5.0 % of its first "
                          "1,000"));
  control.status = RunStatus::kVoid;
  EXPECT_THAT(order_notes(runs, {control}), IsEmpty());
}

}  // namespace
}  // namespace numabench
