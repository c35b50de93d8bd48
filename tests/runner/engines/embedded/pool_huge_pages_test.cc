// Which nodes' huge pages a pool takes. The numbers are worked out by hand for a pool of 2048
// buffers and pages of 2 MiB: 8 pages of contents, one of descriptors (128 KiB), one of the
// mapping.
#include "runner/engines/embedded/pool_huge_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>

namespace numabench {
namespace {

constexpr std::size_t kHugePage = 2 << 20;

class PoolHugePages : public ::testing::Test {
 protected:
  PoolHugePages() {
    shape_.buffers = 2048;
    shape_.dataset_pages = 4096;
    shape_.nodes = {0, 1};
    shape_.page_contents = true;
  }

  std::string lacking(const std::map<int, std::uint64_t>& free) const {
    return huge_page_shortage(
        huge_page_demands(policy_, shape_, server_, filler_, kHugePage),
        [&](int node) -> std::optional<std::uint64_t> { return free.at(node); });
  }

  /// The fewest free pages of `node` that suffice while the other has plenty.
  std::uint64_t needed_on(int node) const {
    std::map<int, std::uint64_t> free{{0, 100}, {1, 100}};
    for (free[node] = 0; !lacking(free).empty();) ++free[node];
    return free[node];
  }

  PoolPolicy policy_;
  PoolShape shape_;
  Placement server_;
  Placement filler_;
};

TEST_F(PoolHugePages, OfAFreePoolMayBeAnywhere) { EXPECT_EQ(lacking({{0, 0}, {1, 0}}), ""); }

TEST_F(PoolHugePages, AreThoseOfTheNodeThatTheServerIsBoundTo) {
  server_ = {{}, MemoryPolicy::kBind, {1}, false, true};
  EXPECT_EQ(needed_on(0), 0u);
  EXPECT_EQ(needed_on(1), 10u);
  EXPECT_EQ(lacking({{0, 100}, {1, 9}}), "node 1 has 9 free huge pages of the 10 wanted there");
}

TEST_F(PoolHugePages, OfContentsThatTheServerDoesNotTouchAreTheFillersAndItsOwn) {
  server_ = {{}, MemoryPolicy::kBind, {0}};
  EXPECT_EQ(needed_on(0), 2u);
  filler_ = {{}, MemoryPolicy::kBind, {1}};
  EXPECT_EQ(needed_on(1), 8u);
  policy_.memory = PoolPolicy::Memory::kPrefault;
  EXPECT_EQ(needed_on(0), 10u) << "now the server touches them";
  EXPECT_EQ(needed_on(1), 0u);
}

TEST_F(PoolHugePages, OfAnInterleavedPoolAreAShareOfEachNode) {
  server_ = {{}, MemoryPolicy::kInterleave, {0, 1}, false, true};
  for (const int node : {0, 1}) EXPECT_EQ(needed_on(node), 6u);
  server_ = {};
  policy_.memory = PoolPolicy::Memory::kInterleave;
  for (const int node : {0, 1}) EXPECT_EQ(needed_on(node), 6u) << "of the arm's own accord";
}

TEST_F(PoolHugePages, OfPartitionsByNodeAreOfTheirNodes) {
  policy_.buffers_by_node = true;
  policy_.partitions = 4;
  EXPECT_EQ(needed_on(0), 4u);
  EXPECT_EQ(needed_on(1), 5u) << "the page of descriptors that all share is the last one's";
  shape_.page_contents = false;
  EXPECT_EQ(needed_on(0), 0u);
  EXPECT_EQ(needed_on(1), 1u);
}

TEST_F(PoolHugePages, WithoutContentsAreFew) {
  shape_.page_contents = false;
  server_ = {{}, MemoryPolicy::kBind, {0}, false, true};
  EXPECT_EQ(needed_on(0), 2u);
}

}  // namespace
}  // namespace numabench
