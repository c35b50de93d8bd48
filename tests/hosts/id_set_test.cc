#include "hosts/id_set.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

namespace numabench {
namespace {

TEST(IdSet, ParsesTheKernelsNotation) {
  EXPECT_EQ(parse_id_list("0-3,8,10-11"), (IdSet{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_id_list("7"), IdSet{7});
  EXPECT_EQ(parse_id_list("5-5"), IdSet{5});
  EXPECT_EQ(parse_id_list(""), IdSet{});
}

TEST(IdSet, RefusesWhatIsNotAList) {
  for (const char* text :
       {",", "1,", ",1", "1,,2", "-1", "1-", "-", "3-1", "a", "1 ", " 1", "1-2-3", "0x1", "+1",
        "1.5", "99999999999", "0-2000000000", "--1", "1--2"}) {
    EXPECT_EQ(parse_id_list(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(IdSet, FormatsRunsAsRanges) {
  EXPECT_EQ(format_id_list({}), "");
  EXPECT_EQ(format_id_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

TEST(IdSet, EverySetSurvivesTheRoundTrip) {
  std::mt19937 random(20261130);
  for (int round = 0; round < 2000; ++round) {
    std::bernoulli_distribution member((round % 10 + 1) / 11.0);
    IdSet ids;
    for (int id = 0; id < 1 + round % 300; ++id) {
      if (member(random)) ids.insert(id);
    }
    const std::string text = format_id_list(ids);
    ASSERT_EQ(parse_id_list(text), ids) << text;
  }
}

// The kernel is the authority on its own notation: what it prints must come back unchanged.
TEST(IdSet, ReadsAndWritesAsTheKernelDoes) {
  std::ifstream online("/sys/devices/system/cpu/online");
  std::string text;
  if (!std::getline(online, text)) GTEST_SKIP() << "no /sys/devices/system/cpu/online";
  const auto ids = parse_id_list(text);
  ASSERT_TRUE(ids) << text;
  EXPECT_FALSE(ids->empty());
  EXPECT_EQ(format_id_list(*ids), text);
}

TEST(IdExpression, IsNumactlsNotation) {
  const auto list = parse_id_expression("0-3,8");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->ids, (IdSet{0, 1, 2, 3, 8}));
  EXPECT_FALSE(list->all || list->inverted || list->relative);
  EXPECT_TRUE(parse_id_expression("all")->all);
  EXPECT_TRUE(parse_id_expression("+0-1")->relative);
  EXPECT_EQ(parse_id_expression("+0-1")->ids, (IdSet{0, 1}));
  EXPECT_TRUE(parse_id_expression("!2")->inverted);
  const auto both = parse_id_expression("!+0,2");
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->inverted && both->relative);
  EXPECT_EQ(both->ids, (IdSet{0, 2}));
}

TEST(IdExpression, RefusesWhatNumactlDoes) {
  for (const char* text :
       {"", "+", "!", "+!0", "!all", "+all", "++1", "3-1", "-1", "0 1", "all,1"}) {
    EXPECT_FALSE(parse_id_expression(text)) << text;
  }
}

}  // namespace
}  // namespace numabench
