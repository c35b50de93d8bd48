#include "runner/steady_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace numabench {
namespace {

/// The first second at which a pool with these ratios is taken for steady; -1 when never.
int steady_after(const std::function<double(int second)>& hit_pct,
                 const std::function<double(int second)>& occupancy_pct) {
  SteadyState state;
  EngineProgress progress;
  for (int second = 0; second <= 200; ++second) {
    progress.accesses += 100'000;
    progress.reads += static_cast<std::uint64_t>(1000 * (100 - hit_pct(second)));
    progress.occupancy_pct = occupancy_pct(second);
    state.add(progress);
    if (state.is_reached()) return second;
  }
  return -1;
}

double full(int) { return 100; }
double constant(int) { return 95; }

TEST(SteadyState, NeedsTenSecondsOfAFullPoolAndAConstantHitRatio) {
  EXPECT_EQ(steady_after(constant, full), 10);
}

TEST(SteadyState, WaitsForThePoolToFill) {
  const auto filling = [](int second) { return std::min(100.0, 2.0 * second); };
  EXPECT_EQ(steady_after(constant, filling), 59);
}

TEST(SteadyState, TakesAPoolThatStaysPartlyEmptyForAsFullAsItGets) {
  EXPECT_EQ(steady_after(constant, [](int) { return 70.0; }), 10);
}

TEST(SteadyState, IsNotReachedWhileTheHitRatioClimbs) {
  EXPECT_EQ(steady_after([](int second) { return 50 + 0.2 * second; }, full), -1);
}

TEST(SteadyState, IsReachedOnceTheClimbIsFlat) {
  const auto saturating = [](int second) { return 95 - 45 * std::exp(-second / 10.0); };
  const int second = steady_after(saturating, full);
  EXPECT_GT(second, 30);
  EXPECT_LT(second, 60);
}

TEST(SteadyState, ForgivesTheScatterOfSingleSeconds) {
  EXPECT_EQ(steady_after([](int second) { return second % 2 == 0 ? 94.6 : 95.4; }, full), 10);
}

TEST(SteadyState, SaysNothingOfAPoolThatNobodyUses) {
  SteadyState state;
  for (int second = 0; second < 100; ++second) state.add(EngineProgress{});
  EXPECT_FALSE(state.is_reached());
}

}  // namespace
}  // namespace numabench
