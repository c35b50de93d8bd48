#include "hosts/huge_pages.h"

#include <gtest/gtest.h>

#include <map>

namespace numabench {
namespace {

std::string lacking(const std::vector<HugePageDemand>& demands,
                    const std::map<int, std::uint64_t>& free) {
  return huge_page_shortage(demands, [&](int node) -> std::optional<std::uint64_t> {
    const auto found = free.find(node);
    if (found == free.end()) return std::nullopt;
    return found->second;
  });
}

TEST(HugePageShortage, OfOneNodeIsOfAllThatIsBoundThereTogether) {
  const HugePageDemand eight{MemoryPolicy::kBind, {1}, 8};
  EXPECT_EQ(lacking({eight}, {{0, 0}, {1, 8}}), "");
  EXPECT_EQ(lacking({eight}, {{0, 99}, {1, 3}}),
            "node 1 has 3 free huge pages of the 8 wanted there");
  EXPECT_EQ(lacking({eight, {MemoryPolicy::kBind, {1}, 2}}, {{1, 9}}),
            "node 1 has 9 free huge pages of the 10 wanted there");
  EXPECT_EQ(lacking({eight}, {}), "node 1 has 0 free huge pages of the 8 wanted there");
}

TEST(HugePageShortage, OfInterleavedMemoryIsOfEachNodesShare) {
  const HugePageDemand nine{MemoryPolicy::kInterleave, {0, 2}, 9};
  EXPECT_EQ(lacking({nine}, {{0, 5}, {2, 5}}), "");
  EXPECT_EQ(lacking({nine}, {{0, 99}, {2, 4}}),
            "node 2 has 4 free huge pages of the 5 wanted there");
  EXPECT_EQ(lacking({nine}, {{0, 1}, {2, 2}}),
            "node 0 has 1 free huge pages of the 5 wanted there, "
            "node 2 has 2 free huge pages of the 5 wanted there");
}

TEST(HugePageShortage, OfMemoryBoundToSeveralNodesIsOfWhatTheyHaveLeft) {
  const HugePageDemand joint{MemoryPolicy::kBind, {0, 1}, 6};
  EXPECT_EQ(lacking({joint}, {{0, 6}, {1, 0}}), "");
  EXPECT_EQ(lacking({joint, {MemoryPolicy::kBind, {0}, 4}}, {{0, 5}, {1, 3}}),
            "nodes 0-1 have 4 free huge pages of the 6 wanted there");
  EXPECT_EQ(lacking({{MemoryPolicy::kWeightedInterleave, {0, 1}, 6}}, {{0, 1}, {1, 2}}),
            "nodes 0-1 have 3 free huge pages of the 6 wanted there");
}

TEST(HugePageShortage, IsNoneOfPoliciesThatTakeOtherNodesToo) {
  for (const MemoryPolicy policy : {MemoryPolicy::kDefault, MemoryPolicy::kLocal,
                                    MemoryPolicy::kPreferred, MemoryPolicy::kPreferredMany}) {
    EXPECT_EQ(lacking({{policy, {0}, 100}}, {{0, 0}}), "");
  }
}

}  // namespace
}  // namespace numabench
