#include "runner/config/pool_policy.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hosts/error.h"

namespace numabench {
namespace {

using Switches = std::vector<std::pair<std::string, std::string>>;

PoolPolicy policy_of(const Switches& switches) {
  PoolPolicy policy;
  for (const auto& [name, value] : switches) set_policy_option(policy, name, value);
  return policy;
}

std::string error_of_switches(const Switches& switches) {
  try {
    check_policy(policy_of(switches));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(PoolPolicy, EveryValueOfEverySwitchReadsBack) {
  for (const PolicyOption& option : policy_options()) {
    const std::vector<std::string> values =
        option.values.empty() ? std::vector<std::string>{"1", "7", "2147483647"} : option.values;
    std::set<std::string> seen;
    for (const std::string& value : values) {
      PoolPolicy policy;
      set_policy_option(policy, option.name, value);
      EXPECT_EQ(policy_option(policy, option.name), value) << option.name;
      seen.insert(policy_option(policy, option.name));
    }
    EXPECT_EQ(seen.size(), values.size()) << option.name;
    EXPECT_FALSE(option.description.empty()) << option.name;
  }
}

// A switch that the table forgets would be lost on the way through the store: no two policies that
// differ may spell the same.
TEST(PoolPolicy, TheTableSetsTheMemberItNames) {
  EXPECT_EQ(policy_of({{"memory", "interleave"}}).memory, PoolPolicy::Memory::kInterleave);
  EXPECT_TRUE(policy_of({{"buffers_by_node", "true"}}).buffers_by_node);
  EXPECT_EQ(policy_of({{"partitions", "0"}}).partitions, 0);
  EXPECT_EQ(policy_of({{"balance", "per_tick"}}).balance, PoolPolicy::Balance::kPerTick);
  EXPECT_TRUE(policy_of({{"scan_all_partitions", "true"}}).scan_all_partitions);
  EXPECT_EQ(policy_of({{"home_refresh", "128"}}).home_refresh, 128);
  EXPECT_EQ(policy_of({{"usage", "hot_cool"}}).usage, PoolPolicy::Usage::kHotCool);
  EXPECT_EQ(policy_of({{"admission", "probation"}}).admission, PoolPolicy::Admission::kProbation);
  EXPECT_EQ(policy_of({{"bound", "128"}}).bound, 128);
  EXPECT_FALSE(policy_of({{"background_writer", "false"}}).background_writer);
  EXPECT_TRUE(policy_of({{"background_writer_spends", "true"}}).background_writer_spends);
  EXPECT_EQ(policy_of({{"batch", "force"}}).batch, PoolPolicy::Batch::kForce);
  EXPECT_EQ(policy_of({{"batch_size", "64"}}).batch_size, 64);
  EXPECT_EQ(policy_of({{"cooling", "prefer_cool"}}).cooling, PoolPolicy::Cooling::kPreferCool);
  EXPECT_TRUE(policy_of({{"freelist", "true"}}).freelist);
  EXPECT_FALSE(policy_of({{"rings", "false"}}).rings);
  EXPECT_EQ(policy_of({{"mapping", "dense"}}).mapping, PoolPolicy::Mapping::kDense);
  EXPECT_EQ(policy_options().size(), 17u);
}

TEST(PoolPolicy, RefusesUnknownNamesAndValues) {
  EXPECT_EQ(error_of_switches({{"bond", "1"}}),
            "unknown policy switch 'bond'; did you mean 'bound'?");
  EXPECT_EQ(error_of_switches({{"usage", "count2"}}),
            "policy switch 'usage' cannot be 'count2'; did you mean 'count'?");
  for (const char* text : {"", "-1", "1.5", "0x10", "0010", "1e400", "2147483648", "many"}) {
    EXPECT_THROW(policy_of({{"bound", text}}), Error) << text;
  }
  EXPECT_THROW(policy_of({{"batch_size", "0"}}), Error);
  EXPECT_THROW(policy_of({{"home_refresh", "0"}}), Error);
  EXPECT_THROW(policy_of({{"rings", "yes"}}), Error);
}

TEST(PoolPolicy, RefusesSwitchesThatContradictEachOther) {
  EXPECT_EQ(error_of_switches({}), "no error");
  EXPECT_EQ(error_of_switches({{"balance", "per_allocation"}, {"partitions", "0"}}), "no error");
  EXPECT_NE(error_of_switches({{"balance", "per_allocation"}}), "no error");
  EXPECT_NE(error_of_switches({{"scan_all_partitions", "true"}}), "no error");
  EXPECT_EQ(error_of_switches({{"usage", "hot_cool"}, {"cooling", "prefer_cool"}}), "no error");
  EXPECT_EQ(error_of_switches({{"cooling", "prefer_cool"}}),
            "cooling: prefer_cool needs HOT and COOL buffers, but usage is count; set usage to "
            "hot_cool, or leave cooling out");
  EXPECT_EQ(error_of_switches({{"bound", "128"}, {"background_writer_spends", "true"}}),
            "no error");
  EXPECT_NE(error_of_switches({{"background_writer_spends", "true"}}), "no error");
  EXPECT_NE(
      error_of_switches(
          {{"bound", "128"}, {"background_writer_spends", "true"}, {"background_writer", "false"}}),
      "no error");
}

TEST(PoolPolicy, ChecksTheRangesOfAPolicyBuiltByHand) {
  PoolPolicy policy;
  policy.batch_size = 0;
  EXPECT_THROW(check_policy(policy), Error);
}

}  // namespace
}  // namespace numabench
