// The brute-force model against examples worked out by hand, one or more per rule of buffer_pool.h
// that speaks of reads, so that the truth the real pool is held to is itself held to something.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/engines/embedded/model_example.h"

namespace numabench {
namespace {

using testing::ElementsAre;

TEST(ModelShape, StockSpendsUsageCountsUntilOneIsZero) {
  ModelExample example(4, PoolPolicy{});
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 4);  // cold: one tick each
  ModelExample::touch(client, 0);
  EXPECT_THAT(example.usages(), ElementsAre(2, 1, 1, 1));

  // Ticks: 2->1, 1->0, 1->0, 1->0, 1->0, and buffer 1 has none left.
  const std::optional<ReadResult> fifth = client.read(4);
  ASSERT_TRUE(fifth);
  EXPECT_EQ(fifth->buffer, 1u);
  EXPECT_EQ(fifth->evicted, 1u);
  EXPECT_FALSE(fifth->hit);
  EXPECT_THAT(example.usages(), ElementsAre(0, 1, 0, 0));
  client.unpin(1);
  EXPECT_EQ(ModelExample::touch(client, 5), 2u);  // the hand went on from there

  EXPECT_EQ(client.counters(), (ModelCounters{.accesses = 7,
                                              .reads = 6,
                                              .evictions = 2,
                                              .victims = 6,
                                              .ticks = 4 + 6 + 1,
                                              .victims_home = 6,
                                              .tail = 6}));
  EXPECT_DOUBLE_EQ(example.pool().laps(), 11.0 / 4);
  EXPECT_EQ(example.pool().occupied_buffers(), 4u);
  EXPECT_EQ(example.pool().find(1), std::nullopt);
  EXPECT_EQ(example.pool().find(4), 1u);
}

TEST(ModelShape, UsageStopsAtFiveAndNestedPinsDoNotCount) {
  ModelExample example(2, PoolPolicy{});
  ModelBackend client = example.backend();
  ModelBackend other = example.backend();
  for (int i = 0; i < 9; ++i) ModelExample::touch(client, 7);
  EXPECT_EQ(example.pool().buffer(0).usage, 5);

  client.read(8);
  client.read(8);
  EXPECT_EQ(example.pool().buffer(1).refcount, 1);
  EXPECT_EQ(example.pool().buffer(1).usage, 1);
  other.read(8);
  EXPECT_EQ(example.pool().buffer(1).refcount, 2);
  EXPECT_EQ(example.pool().buffer(1).usage, 2);
  client.unpin(1);
  EXPECT_EQ(example.pool().buffer(1).refcount, 2);
  client.unpin(1);
  EXPECT_EQ(example.pool().buffer(1).refcount, 1);
}

TEST(ModelShape, FailsAfterAsManySuccessivePinnedBuffersAsThePartitionHas) {
  ModelExample example(3, PoolPolicy{});
  ModelBackend client = example.backend();
  for (PageNumber page = 0; page < 3; ++page) client.read(page);
  EXPECT_EQ(client.read(3), std::nullopt);
  EXPECT_DOUBLE_EQ(example.pool().laps(), 2);
  EXPECT_EQ(
      client.counters(),
      (ModelCounters{
          .accesses = 4, .reads = 3, .victims = 3, .ticks = 3, .victims_home = 3, .tail = 1}));
  client.unpin(1);
  // 0 pinned, 1 -> 0 restarts the count, 2 and 0 pinned, then 1 is claimed.
  EXPECT_EQ(ModelExample::touch(client, 3), 1u);
  EXPECT_EQ(client.counters().tail, 5u);
}

TEST(ModelShape, SecondChanceIsOneBit) {
  ModelExample example(3, {.usage = PoolPolicy::Usage::kSecondChance});
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 3);
  for (int i = 0; i < 3; ++i) ModelExample::touch(client, 0);
  EXPECT_THAT(example.usages(), ElementsAre(1, 1, 1));
  EXPECT_EQ(ModelExample::touch(client, 3), 0u);  // three chances, then the first again
  EXPECT_EQ(client.counters().tail, 4u);
  EXPECT_THAT(example.usages(), ElementsAre(1, 0, 0));
}

TEST(ModelShape, ProbationAdmitsWithoutAChance) {
  ModelExample example(3, {.usage = PoolPolicy::Usage::kSecondChance,
                           .admission = PoolPolicy::Admission::kProbation});
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 3);
  EXPECT_THAT(example.usages(), ElementsAre(0, 0, 0));
  ModelExample::touch(client, 0);
  EXPECT_EQ(ModelExample::touch(client, 3), 1u);
  EXPECT_THAT(example.usages(), ElementsAre(0, 0, 0));
  EXPECT_EQ(client.counters().tail, 2u);
}

TEST(ModelShape, BoundClaimsTheNextUnpinnedBufferOnceTheChancesAreSpent) {
  ModelExample example(5, {.bound = 2});
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 5);
  client.read(2);                                 // pinned: a tick, no chance
  EXPECT_EQ(ModelExample::touch(client, 5), 3u);  // 0 and 1 spend, 2 is pinned, 3 is taken
  EXPECT_THAT(example.usages(), ElementsAre(0, 0, 2, 1, 1));
  EXPECT_EQ(client.counters().ticks, 5u + 4);
  EXPECT_EQ(client.counters().forced, 1u);
  EXPECT_EQ(example.pool().partition(0).give_ups, 1u);
  EXPECT_EQ(ModelExample::touch(client, 6), 0u);  // 4 spends, 0 has no use left: not forced
  EXPECT_EQ(client.counters().forced, 1u);
}

TEST(ModelShape, CoolingInPlaceTakesThreeVisits) {
  ModelExample example(2, {.usage = PoolPolicy::Usage::kHotCool});
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 2);
  EXPECT_THAT(example.usages(), ElementsAre(2, 2));
  EXPECT_EQ(ModelExample::touch(client, 2), 0u);
  EXPECT_EQ(client.counters().tail, 5u);
  EXPECT_THAT(example.usages(), ElementsAre(2, 0));
}

PoolPolicy prefer_cool_policy() {
  return {.usage = PoolPolicy::Usage::kHotCool,
          .admission = PoolPolicy::Admission::kProbation,
          .cooling = PoolPolicy::Cooling::kPreferCool};
}

TEST(ModelShape, PreferCoolPassesHotBuffersInItsFirstLap) {
  ModelExample example(4, prefer_cool_policy());
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 4);
  ModelExample::touch_range(client, 0, 2);
  EXPECT_THAT(example.usages(), ElementsAre(2, 2, 0, 0));
  EXPECT_EQ(ModelExample::touch(client, 4), 2u);
  EXPECT_THAT(example.usages(), ElementsAre(2, 2, 0, 0));
  EXPECT_EQ(client.counters().tail, 3u);
}

TEST(ModelShape, PreferCoolCoolsAfterALapWithoutCoolBuffers) {
  PoolPolicy policy = prefer_cool_policy();
  ModelExample example(4, policy);
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 4);
  ModelExample::touch_range(client, 0, 4);
  EXPECT_EQ(ModelExample::touch(client, 4), 0u);  // 4 passed, 4 of 2 -> 1, 4 of 1 -> 0, one claimed
  EXPECT_EQ(client.counters().tail, 13u);

  policy.bound = 1;
  ModelExample bounded(4, policy);
  ModelBackend other = bounded.backend();
  ModelExample::touch_range(other, 0, 4);
  ModelExample::touch_range(other, 0, 4);
  EXPECT_EQ(ModelExample::touch(other, 4), 1u);  // 4 passed, 0 spends, 1 is taken
  EXPECT_THAT(bounded.usages(), ElementsAre(1, 0, 2, 2));
  EXPECT_EQ(other.counters().tail, 6u);
}

TEST(ModelShape, PreferCoolFindsTheOneUnpinnedHotBufferAmongPinnedOnes) {
  ModelExample example(4, prefer_cool_policy());
  ModelBackend client = example.backend();
  for (PageNumber page = 0; page < 4; ++page) client.read(page);
  client.unpin(1);
  ModelExample::touch(client, 1);
  EXPECT_EQ(ModelExample::touch(client, 4), 1u);  // visits 2, 6 and 10 pass and cool; 14 claims
  EXPECT_EQ(client.counters().tail, 14u);
}

TEST(ModelShape, RingReusesItsBuffersWhileNobodyElseUsesThem) {
  ModelExample example(16, PoolPolicy{});
  ModelBackend scanner = example.backend();
  ModelBackend client = example.backend();
  ModelExample::touch_range(client, 0, 16);
  ModelRing ring(16);
  EXPECT_EQ(ring.size(), 2u);

  EXPECT_EQ(ModelExample::touch(scanner, 100, &ring), 0u);  // 16 chances spent first
  EXPECT_EQ(ModelExample::touch(scanner, 101, &ring), 1u);
  EXPECT_EQ(scanner.counters().ticks, 18u);
  EXPECT_EQ(ModelExample::touch(scanner, 102, &ring), 0u);  // slot 0 again, usage 1
  EXPECT_EQ(example.pool().find(100), std::nullopt);
  EXPECT_EQ(scanner.counters().ticks, 18u);

  ModelExample::touch(client, 101);                         // usage 2: no longer the ring's alone
  EXPECT_EQ(ModelExample::touch(scanner, 103, &ring), 2u);  // the sweep serves, slot 1 remembers
  client.read(102);
  client.unpin(0);
  ModelExample::touch(scanner, 104, &ring);  // slot 0: usage 2 as well
  EXPECT_EQ(example.pool().find(104), 3u);
  EXPECT_EQ(ModelExample::touch(scanner, 105, &ring), 2u);  // slot 1 holds buffer 2
  client.read(104);
  EXPECT_EQ(ModelExample::touch(scanner, 106, &ring), 4u);  // slot 0's buffer is pinned

  EXPECT_EQ(scanner.counters(), (ModelCounters{.accesses = 7,
                                               .reads = 7,
                                               .evictions = 7,
                                               .victims = 5,
                                               .ticks = 21,
                                               .ring_reuses = 2,
                                               .victims_home = 5,
                                               .tail = 17}));
}

TEST(ModelShape, RingHitsRaiseUsageOnlyFromZeroToOne) {
  ModelExample example(8, {.admission = PoolPolicy::Admission::kProbation});
  ModelBackend scanner = example.backend();
  ModelRing ring(8);
  ModelExample::touch(scanner, 0);
  EXPECT_EQ(example.pool().buffer(0).usage, 0);
  ModelExample::touch(scanner, 0, &ring);
  EXPECT_EQ(example.pool().buffer(0).usage, 1);
  ModelExample::touch(scanner, 0, &ring);
  EXPECT_EQ(example.pool().buffer(0).usage, 1);
  ModelExample::touch(scanner, 0);
  EXPECT_EQ(example.pool().buffer(0).usage, 2);
}

TEST(ModelShape, RingOfTheCoolingStageReusesOnlyCoolBuffers) {
  ModelExample example(8, {.usage = PoolPolicy::Usage::kHotCool});
  ModelBackend scanner = example.backend();
  ModelRing ring(8);
  ASSERT_EQ(ring.size(), 1u);
  EXPECT_EQ(ModelExample::touch(scanner, 0, &ring), 0u);  // admitted HOT
  EXPECT_EQ(ModelExample::touch(scanner, 1, &ring), 1u);
  example.pool().buffer(1).usage = 0;
  EXPECT_EQ(ModelExample::touch(scanner, 2, &ring), 1u);
  EXPECT_EQ(scanner.counters().ring_reuses, 1u);
}

TEST(ModelShape, RingsAreCappedByPostgresReadAheadAndAtOne) {
  EXPECT_EQ(ModelRing(1).size(), 1u);
  EXPECT_EQ(ModelRing(40).size(), 5u);
  EXPECT_EQ(ModelRing(1u << 20).size(), 288u);
}

TEST(ModelShape, WithoutRingsAScanIsAnOrdinaryReader) {
  ModelExample example(8, {.rings = false});
  ModelBackend scanner = example.backend();
  ModelRing ring(8);
  ModelExample::touch_range(scanner, 0, 2);
  ModelExample::touch(scanner, 0, &ring);
  EXPECT_EQ(example.pool().buffer(0).usage, 2);
  EXPECT_EQ(ModelExample::touch(scanner, 2, &ring), 2u);
  EXPECT_EQ(ModelExample::touch(scanner, 3, &ring), 3u);
}

TEST(ModelShape, BackendsClaimBatchesAndKeepWhatIsLeft) {
  ModelExample example(8, {.batch = PoolPolicy::Batch::kForce, .batch_size = 3});
  ModelBackend a = example.backend();
  ModelBackend b = example.backend();
  EXPECT_EQ(ModelExample::touch(a, 0), 0u);
  EXPECT_EQ(ModelExample::touch(b, 1), 3u);
  EXPECT_EQ(ModelExample::touch(a, 2), 1u);
  EXPECT_EQ(ModelExample::touch(b, 3), 4u);
  EXPECT_EQ(ModelExample::touch(a, 4), 2u);
  EXPECT_EQ(ModelExample::touch(a, 5), 6u);
  EXPECT_EQ(a.counters().ticks, 4u);
  EXPECT_DOUBLE_EQ(example.pool().laps(), 9.0 / 8);  // three batches claimed, not all visited
}

TEST(ModelShape, BatchesAreAutomaticOnlyOnSeveralNodes) {
  EXPECT_FALSE(ModelExample(8, {.batch = PoolPolicy::Batch::kAuto}).pool().batched());
  EXPECT_TRUE(ModelExample(8, {.batch = PoolPolicy::Batch::kAuto}, {0, 1}).pool().batched());
}

TEST(ModelShape, HomeFollowsTheNodeAndTheCpu) {
  ModelExample example(40, {.partitions = 4}, {0, 1});
  const auto first_buffer = [&example](int cpu, int node_index) {
    ModelBackend backend = example.backend(cpu, node_index);
    return ModelExample::touch(backend, static_cast<PageNumber>(100 + 10 * node_index + cpu));
  };
  EXPECT_EQ(first_buffer(0, 0), 0u);
  EXPECT_EQ(first_buffer(3, 0), 10u);
  EXPECT_EQ(first_buffer(4, 1), 20u);
  EXPECT_EQ(first_buffer(5, 1), 30u);
}

TEST(ModelShape, HomeIsLookedUpAgainEveryHomeRefreshAllocations) {
  ModelExample example(10, {.partitions = 2, .home_refresh = 3});
  Backend::Location location{0, 0};
  ModelBackend client(example.pool(), [&location] { return location; });
  EXPECT_EQ(ModelExample::touch(client, 0), 0u);
  location.cpu = 1;
  EXPECT_EQ(ModelExample::touch(client, 1), 1u);
  EXPECT_EQ(ModelExample::touch(client, 0), 0u);  // a hit is no allocation
  EXPECT_EQ(ModelExample::touch(client, 2), 2u);
  EXPECT_EQ(ModelExample::touch(client, 3), 5u);
  EXPECT_EQ(client.counters().victims_home, 4u);
}

TEST(ModelShape, FirstPartitionsAreOneLargerAndOnlyScanAllLeavesAnExhaustedOne) {
  PoolPolicy policy{.partitions = 2};
  ModelExample confined(5, policy);
  ModelBackend client = confined.backend(1);
  EXPECT_EQ(client.read(0)->buffer, 3u);
  EXPECT_EQ(client.read(1)->buffer, 4u);
  EXPECT_EQ(client.read(2), std::nullopt);

  policy.scan_all_partitions = true;
  ModelExample example(5, policy);
  ModelBackend other = example.backend(1);
  for (PageNumber page = 0; page < 2; ++page) other.read(page);
  EXPECT_EQ(other.read(2)->buffer, 0u);  // two pinned, then partition 0
  EXPECT_EQ(other.counters().tail, 3u);
  EXPECT_EQ(other.counters().victims_home, 2u);
  EXPECT_EQ(other.counters().victims_foreign, 1u);
  for (PageNumber page = 3; page < 5; ++page) other.read(page);
  EXPECT_EQ(other.read(5), std::nullopt);
}

TEST(ModelShape, FreelistServesNeverUsedBuffersOverTheWholePoolWithoutATick) {
  ModelExample example(4, {.partitions = 2, .freelist = true});
  ModelBackend client = example.backend(1);
  for (BufferId id = 0; id < 4; ++id) EXPECT_EQ(ModelExample::touch(client, id), id);
  EXPECT_EQ(client.counters().ticks, 0u);
  EXPECT_EQ(client.counters().victims, 0u);
  EXPECT_EQ(example.pool().partition(1).requests, 4u);
  EXPECT_EQ(ModelExample::touch(client, 4), 2u);  // then its own partition: 1 -> 0 twice, claim
  EXPECT_EQ(client.counters().ticks, 3u);
}

}  // namespace
}  // namespace numabench
