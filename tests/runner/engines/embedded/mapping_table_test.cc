#include "runner/engines/embedded/mapping_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "hosts/shared_region.h"
#include "runner/engines/embedded/dense_map.h"
#include "workloads/random.h"

namespace numabench {
namespace {

SharedRegion memory_for(std::size_t bytes) {
  return SharedRegion(bytes, SharedRegion::HugePages::kOff);
}

TEST(MappingTable, AgreesWithAnOrderedMap) {
  constexpr std::uint32_t kBuffers = 300;
  const SharedRegion memory = memory_for(MappingTable::bytes(kBuffers));
  MappingTable table(memory.data(), kBuffers);
  std::map<PageNumber, BufferId> truth;
  std::set<BufferId> free;
  for (BufferId buffer = 0; buffer < kBuffers; ++buffer) free.insert(buffer);
  Random random(7);
  for (int step = 0; step < 20'000; ++step) {
    const auto page = static_cast<PageNumber>(random.next_below(600));
    if (const auto found = truth.find(page); found != truth.end()) {
      table.erase(page, found->second);
      free.insert(found->second);
      truth.erase(found);
    } else if (!free.empty()) {
      table.insert(page, *free.begin());
      truth[page] = *free.begin();
      free.erase(free.begin());
    }
    const auto probe = static_cast<PageNumber>(random.next_below(600));
    ASSERT_EQ(table.find(probe), truth.contains(probe) ? truth[probe] : kNoBuffer);
  }
  EXPECT_EQ(table.entries(), truth.size());
}

TEST(MappingTable, HoldsTheHighestPageOfADataset) {
  const SharedRegion memory = memory_for(MappingTable::bytes(1));
  MappingTable table(memory.data(), 1);
  table.insert(kNoPage - 1, 0);
  EXPECT_EQ(table.find(kNoPage - 1), 0u);
  EXPECT_EQ(table.find(0), kNoBuffer);
}

TEST(MappingLock, SharedHoldersDoNotExcludeEachOther) {
  const SharedRegion memory = memory_for(MappingTable::bytes(8));
  const MappingTable table(memory.data(), 8);
  const MappingLock first(table, 1, MappingLock::Mode::kShared);
  const MappingLock second(table, 1, MappingLock::Mode::kShared);
  EXPECT_EQ(table.find(1), kNoBuffer);
}

TEST(DenseMap, OnlyTheFirstBufferEnters) {
  const SharedRegion memory = memory_for(DenseMap::bytes(10));
  DenseMap map(memory.data(), 10);
  EXPECT_EQ(map.find(3), kNoBuffer);
  EXPECT_EQ(map.insert(3, 0), kNoBuffer);
  EXPECT_EQ(map.insert(3, 5), 0u);
  EXPECT_EQ(map.find(3), 0u);
  EXPECT_EQ(map.entries(), 1u);
  map.erase(3);
  EXPECT_EQ(map.find(3), kNoBuffer);
}

}  // namespace
}  // namespace numabench
