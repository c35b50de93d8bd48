#include "runner/engines/embedded/buffer_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "hosts/error.h"
#include "runner/engines/embedded/background_writer.h"
#include "runner/engines/embedded/clock_sweep.h"
#include "runner/engines/embedded/partition_balance.h"
#include "tests/runner/engines/embedded/pool_fixture.h"

namespace numabench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::small_shape;
using testing::TestBackend;

PoolPolicy with(PoolPolicy::Usage usage) {
  PoolPolicy policy;
  policy.usage = usage;
  return policy;
}

TEST(BufferPool, IsEmptyAtFirst) {
  const BufferPool pool({}, small_shape(8, 100));
  EXPECT_EQ(pool.occupied_buffers(), 0u);
  EXPECT_EQ(pool.laps(), 0);
  EXPECT_FALSE(pool.is_resident(0));
  EXPECT_EQ(pool.find_inconsistency(), "");
}

TEST(BufferPool, AMissTakesTheBufferUnderTheHand) {
  BufferPool pool({}, small_shape(8, 100));
  TestBackend client(pool);
  EXPECT_EQ(client.touch(42).buffer, 0u);
  EXPECT_EQ(client.touch(7).buffer, 1u);
  const ReadResult again = client.touch(42);
  EXPECT_TRUE(again.hit);
  EXPECT_EQ(again.buffer, 0u);
  EXPECT_EQ(client.counters->accesses.get(), 3u);
  EXPECT_EQ(client.counters->reads.get(), 2u);
  EXPECT_EQ(client.counters->ticks.get(), 2u);
}

TEST(BufferPool, EachFirstPinAddsOneUsageUpToFive) {
  BufferPool pool({}, small_shape(8, 100));
  TestBackend client(pool);
  std::vector<int> usages;
  for (int i = 0; i < 7; ++i) usages.push_back(pool.usage(client.touch(42).buffer));
  EXPECT_THAT(usages, ElementsAre(1, 2, 3, 4, 5, 5, 5));
}

TEST(BufferPool, ANestedPinOfTheSameBackendChangesNothingShared) {
  BufferPool pool({}, small_shape(8, 100));
  TestBackend client(pool);
  const BufferId buffer = client.backend.read(42).buffer;
  client.backend.read(42);
  EXPECT_EQ(pool.usage(buffer), 1);
  client.backend.unpin(buffer);
  EXPECT_THAT(pool.find_inconsistency(), HasSubstr("pinned 1"));
  client.backend.unpin(buffer);
  EXPECT_EQ(pool.find_inconsistency(), "");
}

TEST(BufferPool, TwoBackendsPinSeparately) {
  BufferPool pool({}, small_shape(8, 100));
  TestBackend first(pool);
  TestBackend second(pool);
  const BufferId buffer = first.backend.read(42).buffer;
  second.backend.read(42);
  EXPECT_EQ(pool.usage(buffer), 2);
  first.backend.unpin(buffer);
  EXPECT_THAT(pool.find_inconsistency(), HasSubstr("pinned 1"));
  second.backend.unpin(buffer);
}

TEST(BufferPool, SecondChanceIsOneBit) {
  BufferPool pool(with(PoolPolicy::Usage::kSecondChance), small_shape(8, 100));
  TestBackend client(pool);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pool.usage(client.touch(42).buffer), 1);
}

TEST(BufferPool, AProbationaryPageMustBeUsedAgain) {
  PoolPolicy policy = with(PoolPolicy::Usage::kSecondChance);
  policy.admission = PoolPolicy::Admission::kProbation;
  BufferPool pool(policy, small_shape(8, 100));
  TestBackend client(pool);
  EXPECT_EQ(pool.usage(client.touch(42).buffer), 0);
  EXPECT_EQ(pool.usage(client.touch(42).buffer), 1);
}

TEST(BufferPool, AHotPageIsVisitedThreeTimesBeforeItGoes) {
  BufferPool pool(with(PoolPolicy::Usage::kHotCool), small_shape(1, 100));
  TestBackend client(pool);
  client.touch(1);
  const ReadResult result = client.touch(2);
  EXPECT_EQ(result.evicted, 1u);
  EXPECT_EQ(client.counters->ticks.get(), 1u + 3u);
}

TEST(BufferPool, APinnedBufferIsNeverTaken) {
  BufferPool pool({}, small_shape(4, 100));
  TestBackend client(pool);
  const BufferId pinned = client.backend.read(1).buffer;
  for (PageNumber page = 2; page < 50; ++page) {
    EXPECT_NE(client.touch(page).buffer, pinned);
  }
  EXPECT_TRUE(pool.is_resident(1));
  client.backend.unpin(pinned);
}

TEST(BufferPool, SaysWhenEveryBufferIsPinned) {
  BufferPool pool({}, small_shape(4, 100));
  TestBackend client(pool);
  for (PageNumber page = 0; page < 4; ++page) client.backend.read(page);
  try {
    client.backend.read(50);
    FAIL() << "there is no buffer to be had";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRun);
    EXPECT_EQ(error.problem(), "no unpinned buffers available");
  }
}

TEST(BufferPool, PinnedPartitionsAreExhaustedUnlessAllAreScanned) {
  for (const bool scan_all : {false, true}) {
    PoolPolicy policy;
    policy.partitions = 2;
    policy.scan_all_partitions = scan_all;
    BufferPool pool(policy, small_shape(8, 100));
    TestBackend client(pool, 0);
    for (PageNumber page = 0; page < 4; ++page) client.backend.read(page);
    if (scan_all) {
      EXPECT_EQ(client.backend.read(50).buffer, 4u);
      EXPECT_EQ(client.counters->victims_foreign.get(), 1u);
    } else {
      EXPECT_THROW(client.backend.read(50), Error);
    }
  }
}

TEST(BufferPool, PreferCoolDoesNotMistakeHotBuffersForPinnedOnes) {
  PoolPolicy policy = with(PoolPolicy::Usage::kHotCool);
  policy.cooling = PoolPolicy::Cooling::kPreferCool;
  BufferPool pool(policy, small_shape(4, 100));
  TestBackend client(pool);
  for (PageNumber page = 0; page < 3; ++page) client.backend.read(page);
  client.touch(3);  // hot, the only one that is not pinned
  EXPECT_EQ(client.touch(50).evicted, 3u);
}

TEST(BufferPool, TheBoundEndsAnAllocation) {
  PoolPolicy policy;
  policy.bound = 3;
  BufferPool pool(policy, small_shape(16, 100));
  TestBackend client(pool);
  for (PageNumber page = 0; page < 16; ++page) client.touch(page);
  const std::uint64_t before = client.counters->ticks.get();
  client.touch(50);
  EXPECT_EQ(client.counters->ticks.get() - before, 3u + 1u);
  EXPECT_EQ(client.counters->forced.get(), 1u);
}

TEST(BufferPool, AFreelistServesEveryBufferOnceWithoutATick) {
  PoolPolicy policy;
  policy.freelist = true;
  BufferPool pool(policy, small_shape(4, 100));
  TestBackend client(pool);
  for (PageNumber page = 0; page < 4; ++page) EXPECT_EQ(client.touch(page).buffer, page);
  EXPECT_EQ(client.counters->ticks.get(), 0u);
  EXPECT_EQ(client.counters->victims.get(), 0u);
  client.touch(50);
  EXPECT_EQ(client.counters->victims.get(), 1u);
}

TEST(BufferPool, ARingRecyclesItsOwnBuffers) {
  BufferPool pool({}, small_shape(64, 1000));
  TestBackend client(pool);
  BufferRing ring(64);
  ASSERT_EQ(ring.slots(), 8u);
  for (PageNumber page = 0; page < 100; ++page) client.touch(page, &ring);
  EXPECT_EQ(pool.occupied_buffers(), 8u);
  EXPECT_EQ(client.counters->ring_reuses.get(), 92u);
  EXPECT_EQ(client.counters->victims.get(), 8u);
}

TEST(BufferPool, ARingLeavesABufferThatOthersUse) {
  BufferPool pool({}, small_shape(64, 1000));
  TestBackend client(pool);
  BufferRing ring(64);
  for (PageNumber page = 0; page < 8; ++page) client.touch(page, &ring);
  client.touch(3);  // usage 2: no longer the ring's own
  for (PageNumber page = 8; page < 16; ++page) client.touch(page, &ring);
  EXPECT_TRUE(pool.is_resident(3));
  EXPECT_FALSE(pool.is_resident(4));
}

TEST(BufferRing, IsPostgresBulkReadRingAndAtMostAnEighthOfThePool) {
  EXPECT_EQ(BufferRing(1'000'000).slots(), 32u + 16u * 16u);
  EXPECT_EQ(BufferRing(800).slots(), 100u);
  EXPECT_EQ(BufferRing(4).slots(), 1u);
}

TEST(BufferPool, PartitionsMustDivideOverTheNodes) {
  PoolShape shape = small_shape(8, 100);
  shape.nodes = {0, 1};
  PoolPolicy policy;
  policy.partitions = 3;
  EXPECT_THROW(BufferPool(policy, shape), Error);
  policy.partitions = 1;
  EXPECT_EQ(BufferPool(policy, shape).partitions(), 1);
  policy.partitions = 0;
  EXPECT_EQ(BufferPool(policy, shape).partitions(), 2);
  policy.partitions = 16;
  EXPECT_THROW(BufferPool(policy, shape), Error);
}

TEST(BufferPool, ABackendSweepsThePartitionOfItsCpu) {
  PoolShape shape = small_shape(16, 100);
  shape.nodes = {0, 1};
  PoolPolicy policy;
  policy.partitions = 4;
  BufferPool pool(policy, shape);
  TestBackend client(pool);
  client.location = {1, 5};
  EXPECT_EQ(client.touch(1).buffer, 12u);  // node 1's second partition
  client.location = {0, 4};
  EXPECT_EQ(client.touch(2).buffer, 0u);
  EXPECT_EQ(client.counters->victims_home.get(), 2u);
}

TEST(BufferPool, TheHomeIsLookedUpAgainAfterHomeRefreshAllocations) {
  PoolPolicy policy;
  policy.partitions = 2;
  policy.home_refresh = 3;
  BufferPool pool(policy, small_shape(16, 100));
  TestBackend client(pool, 0);
  EXPECT_EQ(client.touch(1).buffer, 0u);
  client.location.cpu = 1;
  EXPECT_EQ(client.touch(2).buffer, 1u);
  EXPECT_EQ(client.touch(3).buffer, 2u);
  EXPECT_EQ(client.touch(4).buffer, 8u);
}

TEST(BufferPool, ABatchIsVisitedByTheBackendThatClaimedIt) {
  PoolPolicy policy;
  policy.batch = PoolPolicy::Batch::kForce;
  policy.batch_size = 4;
  BufferPool pool(policy, small_shape(16, 100));
  TestBackend first(pool);
  TestBackend second(pool);
  EXPECT_EQ(first.touch(1).buffer, 0u);
  EXPECT_EQ(second.touch(2).buffer, 4u);
  EXPECT_EQ(first.touch(3).buffer, 1u);
  EXPECT_EQ(first.counters->ticks.get(), 2u);
  EXPECT_EQ(pool.laps(), 0.5);
}

TEST(BufferPool, AReaderFillsThePageOnce) {
  PoolShape shape = small_shape(8, 100);
  shape.page_contents = true;
  BufferPool pool({}, shape);
  int reads = 0;
  TestBackend client(pool, 0, [&](PageNumber page, std::byte* destination) {
    std::memset(destination, static_cast<int>(page), kPageBytes);
    ++reads;
  });
  const BufferId buffer = client.touch(42).buffer;
  client.touch(42);
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(client.backend.contents(buffer)[kPageBytes - 1], std::byte{42});
}

TEST(BufferPool, AFailedReadLeavesAPageThatTheNextBackendReads) {
  PoolShape shape = small_shape(8, 100);
  shape.page_contents = true;
  BufferPool pool({}, shape);
  TestBackend broken(pool, 0,
                     [](PageNumber, std::byte*) { throw std::runtime_error("I/O error"); });
  bool read = false;
  TestBackend sound(pool, 0, [&](PageNumber, std::byte*) { read = true; });
  EXPECT_THROW(broken.backend.read(42), std::runtime_error);
  EXPECT_EQ(pool.find_inconsistency(), "");
  sound.touch(42);
  EXPECT_TRUE(read);
}

TEST(BufferPool, TheWalkFindsAPageThatTheMappingHasLost) {
  BufferPool pool({}, small_shape(8, 100));
  TestBackend client(pool);
  const BufferId buffer = client.touch(42).buffer;
  pool.descriptor(buffer).tag = 43;
  EXPECT_THAT(pool.find_inconsistency(), HasSubstr("holds page 43, which is not mapped"));
}

TEST(BufferPool, TheWalkFindsAMappedPageWithoutABuffer) {
  BufferPool pool({}, small_shape(8, 100));
  TestBackend client(pool);
  pool.descriptor(client.touch(42).buffer).state = 0;
  EXPECT_THAT(pool.find_inconsistency(), HasSubstr("1 pages are mapped"));
}

TEST(ClockSweep, CountsCompletePassesWhateverTheBatch) {
  for (const std::uint32_t batch : {1u, 3u, 8u, 19u}) {
    std::vector<std::byte> memory(ClockSweep::bytes(1) + 128);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    ClockSweep sweep(memory.data() + (128 - address % 128), 8, 1);
    for (std::uint64_t claimed = 0; claimed < 1000; claimed += batch) {
      EXPECT_EQ(sweep.position(0), claimed);
      EXPECT_EQ(sweep.tick(0, batch), claimed % 8);
    }
  }
}

TEST(PartitionLayout, EveryBufferIsInExactlyOnePartition) {
  for (std::uint32_t buffers = 1; buffers < 40; ++buffers) {
    for (int partitions = 1; partitions <= static_cast<int>(buffers); ++partitions) {
      const PartitionLayout layout(buffers, partitions);
      BufferId next = 0;
      for (int p = 0; p < partitions; ++p) {
        EXPECT_EQ(layout.first_buffer(p), next);
        for (std::uint32_t i = 0; i < layout.size(p); ++i)
          EXPECT_EQ(layout.partition_of(next++), p);
      }
      EXPECT_EQ(next, buffers);
    }
  }
}

TEST(FairWeights, ChangeNothingForLittleTrafficOrLittleExcess) {
  EXPECT_THAT(fair_weights({199, 0}), IsEmpty());
  EXPECT_THAT(fair_weights({1099, 901}), IsEmpty());
}

TEST(FairWeights, SendTheExcessToThoseBelowTheMean) {
  EXPECT_THAT(fair_weights({1000, 0}), ElementsAre(ElementsAre(50, 50), ElementsAre(0, 100)));
  EXPECT_THAT(fair_weights({900, 200, 100}),
              ElementsAre(ElementsAre(44, 22, 33), ElementsAre(0, 100, 0), ElementsAre(0, 0, 100)));
}

TEST(BackgroundWriter, BalancesTheRequestsOfTwoPartitions) {
  PoolPolicy policy;
  policy.partitions = 2;
  policy.balance = PoolPolicy::Balance::kPerAllocation;
  BufferPool pool(policy, small_shape(64, 10'000));
  TestBackend client(pool, 0);
  for (PageNumber page = 0; page < 1000; ++page) client.touch(page);
  EXPECT_EQ(client.counters->victims_foreign.get(), 0u);
  BackgroundWriter writer(pool);
  writer.cycle();
  EXPECT_EQ(pool.weight(0, 0), 75);  // halfway from 100 to 50
  EXPECT_EQ(pool.weight(0, 1), 25);
  for (PageNumber page = 1000; page < 3000; ++page) client.touch(page);
  EXPECT_NEAR(double(client.counters->victims_foreign.get()), 500, 75);
}

TEST(BackgroundWriter, SpendsChancesOnlyWhileAllocationsGiveUp) {
  PoolPolicy policy;
  policy.bound = 2;
  policy.background_writer_spends = true;
  BufferPool pool(policy, small_shape(64, 10'000));
  TestBackend client(pool);
  BackgroundWriter writer(pool);
  const auto total_usage = [&] {
    int sum = 0;
    for (BufferId buffer = 0; buffer < 64; ++buffer) sum += pool.usage(buffer);
    return sum;
  };
  for (PageNumber page = 0; page < 64; ++page) client.touch(page);
  writer.cycle();
  EXPECT_EQ(total_usage(), 64) << "nobody has given up yet";
  client.touch(100);
  ASSERT_EQ(client.counters->forced.get(), 1u);
  const int before = total_usage();
  writer.cycle();
  EXPECT_LT(total_usage(), before);
  const int after = total_usage();
  writer.cycle();
  EXPECT_EQ(total_usage(), after) << "nobody has given up since";
}

}  // namespace
}  // namespace numabench
