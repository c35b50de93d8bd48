#include "hosts/spelling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace numabench {
namespace {

const std::vector<std::string> kKeys{"arms", "clients", "duration", "pools", "ratios", "workloads"};

TEST(Spelling, FindsTheMisspeltKey) {
  EXPECT_EQ(closest_match("client", kKeys), "clients");
  EXPECT_EQ(closest_match("cleints", kKeys), "clients");
  EXPECT_EQ(closest_match("workload", kKeys), "workloads");
  EXPECT_EQ(closest_match("durration", kKeys), "duration");
  EXPECT_EQ(closest_match("amrs", kKeys), "arms");
  EXPECT_EQ(closest_match("CLIENTS", kKeys), "clients");
}

TEST(Spelling, DoesNotGuessWhereNothingIsNear) {
  EXPECT_EQ(closest_match("placement", kKeys), "");
  EXPECT_EQ(closest_match("", kKeys), "");
  EXPECT_EQ(closest_match("x", {"y"}), "");
  EXPECT_EQ(closest_match("arms", {}), "");
}

TEST(Spelling, SuggestsOrLists) {
  EXPECT_EQ(suggest("ratio", kKeys), "did you mean 'ratios'?");
  EXPECT_EQ(suggest("placement", {"a", "b"}), "known: a, b");
  EXPECT_EQ(suggest("placement", {}), "known: none");
}

// Any single slip in a long enough word must be forgiven, whatever the slip and the letter.
TEST(Spelling, ForgivesEverySingleSlip) {
  const std::string word = "interleave";
  const std::vector<std::string> candidates{"bind", word, "preferred"};
  for (std::size_t at = 0; at < word.size(); ++at) {
    std::string left_out = word, doubled = word, replaced = word, swapped = word;
    left_out.erase(at, 1);
    doubled.insert(at, 1, word[at]);
    replaced[at] = 'q';
    if (at > 0) std::swap(swapped[at - 1], swapped[at]);
    for (const std::string& slip : {left_out, doubled, replaced, swapped}) {
      EXPECT_EQ(closest_match(slip, candidates), word) << slip;
    }
  }
}

}  // namespace
}  // namespace numabench
