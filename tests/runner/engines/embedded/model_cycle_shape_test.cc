// The brute-force model's balancer and background writer against examples worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/engines/embedded/model_example.h"

namespace numabench {
namespace {

using testing::ElementsAre;

/// Weights after a cycle in which each partition's backend has asked as often as `requests` says.
std::vector<int> weights_after(const std::vector<PageNumber>& requests, int cycles = 1) {
  const int parts = static_cast<int>(requests.size());
  ModelExample example(60, {.partitions = parts, .balance = PoolPolicy::Balance::kPerAllocation});
  PageNumber page = 0;
  for (int i = 0; i < cycles; ++i) {
    for (int p = 0; p < parts; ++p) {
      ModelBackend client = example.backend(p);
      const PageNumber count = requests[static_cast<std::size_t>(p)];
      ModelExample::touch_range(client, page, count);
      page += count;
    }
    example.pool().cycle();
  }
  std::vector<int> weights;
  for (int from = 0; from < parts; ++from) {
    for (int to = 0; to < parts; ++to) weights.push_back(example.pool().weight(from, to));
  }
  return weights;
}

TEST(ModelCycleShape, RebalanceGivesAwayWhatIsAboveTheMean) {
  // Mean 200; 0 keeps floor(66.7), gives 34; half and half with 100 and 0.
  EXPECT_THAT(weights_after({300, 100}), ElementsAre(83, 17, 0, 100));
  // Mean 250; 0 keeps floor(41.7), 59 are shared 100 : 250 as floor(16.9) and floor(42.1).
  EXPECT_THAT(weights_after({600, 150, 0}), ElementsAre(70, 8, 21, 0, 100, 0, 0, 0, 100));
  EXPECT_THAT(weights_after({600, 150, 0}, 2), ElementsAre(55, 12, 31, 0, 100, 0, 0, 0, 100));
  // Floors of whole quotients: 100 × 100 / 250 = 40; 60 × 100 / 200 = 30 and 60 × 50 / 200 = 15.
  EXPECT_THAT(weights_after({250, 150, 0, 0}),
              ElementsAre(70, 0, 15, 15, 0, 83, 8, 8, 0, 0, 100, 0, 0, 0, 0, 100));
}

TEST(ModelCycleShape, RebalanceWaitsForTrafficAndForAnExcess) {
  EXPECT_THAT(weights_after({199, 0}), ElementsAre(100, 0, 0, 100));
  EXPECT_THAT(weights_after({200, 0}), ElementsAre(75, 25, 0, 100));
  EXPECT_THAT(weights_after({109, 91}), ElementsAre(100, 0, 0, 100));
  // Mean 100, excess 10: 0 keeps floor(90.9) and gives 10; half of it is lost to no one.
  EXPECT_THAT(weights_after({110, 90}), ElementsAre(95, 5, 0, 100));
}

TEST(ModelCycleShape, BudgetsAreTakenRoundRobin) {
  ModelExample example(20, {.partitions = 2, .balance = PoolPolicy::Balance::kPerAllocation});
  ModelBackend busy = example.backend(0);
  ModelBackend calm = example.backend(1);
  ModelExample::touch_range(busy, 0, 300);  // three budgets of 100
  ModelExample::touch_range(calm, 300, 100);
  example.pool().cycle();
  ASSERT_EQ(example.pool().weight(0, 0), 83);
  ASSERT_EQ(example.pool().weight(0, 1), 17);
  for (PageNumber page = 0; page < 200; ++page) {
    const std::optional<BufferId> buffer = ModelExample::touch(busy, 1000 + page);
    EXPECT_EQ(*buffer >= 10, page % 100 < 17) << page;
  }
  EXPECT_EQ(busy.counters().victims_foreign, 34u);
}

TEST(ModelCycleShape, PerTickBalanceTakesTheBudgetByTicks) {
  ModelExample example(20, {.partitions = 2, .balance = PoolPolicy::Balance::kPerTick});
  Backend::Location location{0, 0};
  ModelBackend busy(example.pool(), [&location] { return location; });
  ModelExample::touch_range(busy, 0, 10);  // 10 ticks
  ModelExample::touch_range(busy, 10,
                            190);  // each lap of 10 spends 10 and gives 10: 11 + 9, 19 times
  EXPECT_EQ(busy.counters().ticks, 10u + 19 * 20);
  example.pool().cycle();  // 200 against 0: weights 75 and 25
  ASSERT_EQ(example.pool().weight(0, 1), 25);
  // 10 ticks of the last hundred are left: all of them spend. Then 10 empty buffers of partition 1,
  // then 10 chances of those and at last 5 victims there: 25 ticks.
  for (BufferId i = 0; i < 10; ++i) EXPECT_EQ(ModelExample::touch(busy, 1000 + i), 10 + i);
  EXPECT_EQ(busy.counters().tail, 11u);
  for (BufferId i = 0; i < 5; ++i) EXPECT_EQ(ModelExample::touch(busy, 1010 + i), 10 + i);
  EXPECT_EQ(ModelExample::touch(busy, 1015), 0u);  // 75 ticks at home again
  location.cpu = 1;
  EXPECT_EQ(ModelExample::touch(busy, 1016), 15u);  // a new home starts there
}

TEST(ModelCycleShape, PerTickPinnedLimitIsTheWholePool) {
  ModelExample example(4, {.partitions = 2, .balance = PoolPolicy::Balance::kPerTick});
  ModelBackend client = example.backend(0);
  client.read(0);
  client.read(1);
  EXPECT_EQ(client.read(2), std::nullopt);  // only its own partition has a weight
  EXPECT_EQ(example.pool().partition(0).hand, 2u + 4);
}

TEST(ModelCycleShape, BackgroundWriterArithmetic) {
  ModelExample example(8, {.bound = 1, .background_writer_spends = true});
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 8);
  example.pool().cycle();
  const ModelWriter& writer = example.pool().partition(0).writer;
  // One tick a victim: d = 10 + (1 - 10) / 16. It wants 16, looks at all 8 and finds none.
  EXPECT_DOUBLE_EQ(writer.density, 9.4375);
  EXPECT_DOUBLE_EQ(writer.smoothed, 8);
  EXPECT_EQ(writer.position, 16u);
  EXPECT_THAT(example.usages(), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1));  // nobody has given up

  EXPECT_EQ(ModelExample::touch(client, 8), 1u);  // 0 spends, 1 is taken at the bound: H = 10
  EXPECT_THAT(example.usages(), ElementsAre(0, 1, 1, 1, 1, 1, 1, 1));
  example.pool().cycle();
  // d = 9.4375 + (2 / 1 - 9.4375) / 16 = 8.97265625; it wants floor(2 × 7.5625) = 15 and may look
  // at positions 16 and 17 (10 + 8): buffer 0 is reusable, buffer 1 becomes so. d += (2 / 2 - d)
  // / 16.
  EXPECT_DOUBLE_EQ(writer.smoothed, 7.5625);
  EXPECT_EQ(writer.position, 18u);
  EXPECT_DOUBLE_EQ(writer.density, 8.97265625 + (1 - 8.97265625) / 16);
  EXPECT_THAT(example.usages(), ElementsAre(0, 0, 1, 1, 1, 1, 1, 1));

  example.pool().cycle();  // no allocation, no give-up, nothing to look at
  EXPECT_DOUBLE_EQ(writer.smoothed, 7.5625 - 7.5625 / 16);
  EXPECT_EQ(writer.position, 18u);
  EXPECT_EQ(example.pool().partition(0).served, 0u);
}

TEST(ModelCycleShape, BackgroundWriterStopsWhenItHasWhatItWants) {
  ModelExample example(100, {.admission = PoolPolicy::Admission::kProbation});
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 3);
  client.read(50);
  example.pool().cycle();
  // 4 served, it wants 8: 8 empty buffers from position 4 on.
  EXPECT_EQ(example.pool().partition(0).writer.position, 12u);
  // d = 10 - 9 / 16, then the scan found one each: d += (1 - d) / 16.
  EXPECT_DOUBLE_EQ(example.pool().partition(0).writer.density, 9.4375 + (1 - 9.4375) / 16);
}

TEST(ModelCycleShape, BackgroundWriterPreCoolsForPreferCoolAndSkipsPinnedBuffers) {
  ModelExample example(4, {.usage = PoolPolicy::Usage::kHotCool,
                           .admission = PoolPolicy::Admission::kProbation,
                           .cooling = PoolPolicy::Cooling::kPreferCool});
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 4);
  ModelExample::touch_range(client, 0, 3);
  client.read(1);
  example.pool().cycle();
  EXPECT_THAT(example.usages(), ElementsAre(1, 2, 1, 0));
}

TEST(ModelCycleShape, NoBackgroundWriterStillBalances) {
  ModelExample example(4, {.partitions = 2,
                           .balance = PoolPolicy::Balance::kPerAllocation,
                           .background_writer = false});
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 200);
  example.pool().cycle();
  EXPECT_EQ(example.pool().weight(0, 1), 25);
  EXPECT_EQ(example.pool().partition(0).writer.position, 0u);
}

}  // namespace
}  // namespace numabench
