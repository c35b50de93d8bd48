#include "runner/measure/void_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runner/measure/conditions.h"

namespace numabench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr bool kPublishable = true;

Ruling judge_value(const std::string& metric, double value, const VoidPolicy& policy = {},
                   bool publishable = kPublishable) {
  return judge({}, {MetricValue::of(metric, value)}, policy, publishable);
}

TEST(VoidRules, HaveNamesOfTheirOwnMetricsOfTheCatalogueAndARemedy) {
  std::set<std::string> names;
  for (const VoidRule& rule : void_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_THAT(rule.name, testing::MatchesRegex("[a-z_]+"));
    EXPECT_STRNE(rule.what, "") << rule.name;
    EXPECT_STRNE(rule.remedy, "") << rule.name;
    EXPECT_EQ(find_void_rule(rule.name), &rule);
    const bool found = rule.broken == VoidRule::Broken::kWhenFound;
    EXPECT_EQ(found, std::string(rule.metric).empty()) << rule.name;
    if (!found) {
      EXPECT_NE(find_metric(rule.metric), nullptr) << rule.name;
    }
  }
  EXPECT_EQ(find_void_rule("no_such_rule"), nullptr);
}

struct Case {
  const char* rule;
  const char* metric;
  double good;  ///< just within
  double bad;   ///< just beyond
};

class RuleOnAValue : public testing::TestWithParam<Case> {};

TEST_P(RuleOnAValue, VoidsBeyondItsLimitAndNotWithinIt) {
  const Case& test = GetParam();
  const Ruling good = judge_value(test.metric, test.good);
  EXPECT_EQ(good.void_reason, "");
  EXPECT_THAT(good.warnings, IsEmpty());
  const Ruling bad = judge_value(test.metric, test.bad);
  EXPECT_THAT(bad.void_reason, AllOf(StartsWith(std::string(test.rule) + ": "),
                                     HasSubstr(find_void_rule(test.rule)->remedy)));
}

INSTANTIATE_TEST_SUITE_P(All, RuleOnAValue,
                         testing::Values(Case{"oom_kill", "oom_kills", 0, 1},
                                         Case{"process_stopped", "stopped_processes", 0, 1},
                                         Case{"zero_transactions", "finished_work", 1, 0},
                                         Case{"working_set_off", "working_set_off_pct", 2, 2.1},
                                         Case{"huge_pages_short", "huge_pages_missing_bytes", 0,
                                              2097152},
                                         Case{"swap_used", "swapped_pages", 0, 1},
                                         Case{"disk_full", "disk_free_pct", 1, 0.9},
                                         Case{"wall_clock_jump", "wall_clock_jump_s", 0.5, 0.6},
                                         Case{"clocksource_changed", "clocksource_changes", 0, 1},
                                         Case{"client_bound", "load_generator_pct", 89.9, 90},
                                         Case{"other_load", "other_cpu_pct", 10, 10.1},
                                         Case{"throttled", "throttle_events", 0, 1},
                                         Case{"frequency_moved", "frequency_moved_pct", 5, 5.1}),
                         [](const auto& test) { return std::string(test.param.rule); });

TEST(VoidRules, EveryRuleOnAValueIsAmongTheCasesAbove) {
  const auto count = std::ranges::count_if(void_rules(), [](const VoidRule& rule) {
    return rule.broken != VoidRule::Broken::kWhenFound;
  });
  EXPECT_EQ(count, 14) << "thirteen above, and pool_not_full below";
}

TEST(VoidRules, ThePoolMayBeEmptyUnlessALimitIsAsked) {
  EXPECT_EQ(judge_value("occupancy_before_pct", 12).void_reason, "");
  const VoidPolicy policy = {{"pool_not_full", {99.9, {}}}};
  EXPECT_EQ(judge_value("occupancy_before_pct", 99.95, policy).void_reason, "");
  EXPECT_EQ(judge_value("occupancy_before_pct", 88, policy).void_reason,
            "pool_not_full: how full the pool was as the window began: 88.0 %, below the limit of "
            "99.9 %; warm up longer or choose a larger ratio");
}

TEST(VoidRules, WhatAnEngineFoundVoidsInItsWords) {
  const Ruling ruling =
      judge({{"placement_escaped", "server (pid 17): cpus 0-1, not 0"}}, {}, {}, kPublishable);
  EXPECT_EQ(ruling.void_reason,
            "placement_escaped: server (pid 17): cpus 0-1, not 0; find who moved it (cgroups, "
            "taskset, a job scheduler)");
}

TEST(VoidRules, ShortRunsAreOnlyWarnedOfWhatElseTheHostDoes) {
  for (const auto& [metric, value] : {std::pair{"other_cpu_pct", 50.0},
                                      {"throttle_events", 3.0},
                                      {"frequency_moved_pct", 40.0},
                                      {"load_generator_pct", 99.0}}) {
    const Ruling ruling = judge_value(metric, value, {}, !kPublishable);
    EXPECT_EQ(ruling.void_reason, "") << metric;
    EXPECT_EQ(ruling.warnings.size(), 1u) << metric;
  }
  EXPECT_NE(judge_value("oom_kills", 1, {}, !kPublishable).void_reason, "")
      << "what breaks any run is no matter of length";
}

TEST(VoidRules, AConfigMovesLimitsAndActions) {
  const VoidPolicy strict = {{"other_load", {3, RuleAction::kVoid}}};
  EXPECT_NE(judge_value("other_cpu_pct", 4, strict, !kPublishable).void_reason, "");
  EXPECT_EQ(judge_value("other_cpu_pct", 2, strict, !kPublishable).void_reason, "");
  const VoidPolicy mild = {{"placement_escaped", {{}, RuleAction::kWarn}}};
  const Ruling ruling = judge({{"placement_escaped", "x"}}, {}, mild, kPublishable);
  EXPECT_EQ(ruling.void_reason, "");
  EXPECT_THAT(ruling.warnings, ElementsAre(StartsWith("placement_escaped: x; ")));
}

TEST(VoidRules, TheFirstVoidsAndTheOthersAreKeptAsWarnings) {
  const Ruling ruling =
      judge({{"settings_differ", "work_mem"}}, {MetricValue::of("oom_kills", 1)}, {}, true);
  EXPECT_THAT(ruling.void_reason, StartsWith("settings_differ"));
  EXPECT_THAT(ruling.warnings, ElementsAre(StartsWith("oom_kill: ")));
}

TEST(VoidRules, AnAbsentValueBreaksNoRule) {
  EXPECT_EQ(judge({}, {MetricValue::absent("oom_kills", "old kernel")}, {}, true).void_reason, "");
  EXPECT_EQ(judge({}, {}, {}, true).void_reason, "");
}

TEST(VoidRules, SettingsAreReadAsPeopleWriteThem) {
  const VoidRule& load = *find_void_rule("other_load");
  EXPECT_EQ(parse_rule_setting(load, "10%"), (RuleSetting{10, {}}));
  EXPECT_EQ(parse_rule_setting(load, "12.5"), (RuleSetting{12.5, {}}));
  EXPECT_EQ(parse_rule_setting(load, "warn"), (RuleSetting{{}, RuleAction::kWarn}));
  EXPECT_EQ(parse_rule_setting(load, "void 3%"), (RuleSetting{3, RuleAction::kVoid}));
  for (const char* wrong : {"", "10% warn", "maybe", "-1", "1 2", "%", "warn warn"}) {
    EXPECT_EQ(parse_rule_setting(load, wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(parse_rule_setting(*find_void_rule("oom_kill"), "3%"), std::nullopt) << "no share";
  EXPECT_EQ(parse_rule_setting(*find_void_rule("placement_escaped"), "3"), std::nullopt);
  for (const char* text : {"warn 12.5", "void", "3"}) {
    EXPECT_EQ(to_string(*parse_rule_setting(load, text)), text);
  }
}

double condition(const std::string& metric, const std::vector<MetricValue>& values,
                 const AskedConditions& asked) {
  const auto all = condition_values(values, asked);
  const MetricValue* found = find_value(all, metric);
  return found != nullptr && found->value ? *found->value : -1;
}

TEST(Conditions, AreWorkedOutFromTheRunsOtherValues) {
  const std::vector<MetricValue> values = {
      MetricValue::of("working_set_ratio", 2.1), MetricValue::of("client_cpu_pct", 91),
      MetricValue::of("pool_bytes_node0", 100),  MetricValue::of("pool_bytes_node1", 50),
      MetricValue::of("huge_page_bytes", 120),   MetricValue::of("transactions", 7),
      MetricValue::absent("scans", "none")};
  const AskedConditions asked = {true, 2.0, true};
  EXPECT_NEAR(condition("working_set_off_pct", values, asked), 5, 1e-9);
  EXPECT_EQ(condition("huge_pages_missing_bytes", values, asked), 30);
  EXPECT_EQ(condition("load_generator_pct", values, asked), 91);
  EXPECT_EQ(condition("finished_work", values, asked), 7);
}

TEST(Conditions, DoNotApplyWhereNothingWasAsked) {
  const std::vector<MetricValue> values = {
      MetricValue::of("working_set_ratio", 2.1), MetricValue::of("client_cpu_pct", 100),
      MetricValue::of("pool_bytes_node0", 100), MetricValue::of("huge_page_bytes", 0)};
  for (const MetricValue& value : condition_values(values, {})) {
    EXPECT_FALSE(value.value) << value.metric;
    EXPECT_NE(value.reason, "") << value.metric;
  }
}

TEST(Conditions, AScannerThatReadHasWorkedThoughNoScanEnded) {
  std::vector<MetricValue> values = {MetricValue::absent("transactions", "no such clients"),
                                     MetricValue::of("scans", 0),
                                     MetricValue::of("scan_bytes_per_s", 8192)};
  EXPECT_GT(condition("finished_work", values, {}), 0);
  values.back() = MetricValue::of("scan_bytes_per_s", 0);
  EXPECT_EQ(condition("finished_work", values, {}), 0);
  values.front() = MetricValue::of("transactions", 0);
  values.back() = MetricValue::of("scan_bytes_per_s", 8192);
  EXPECT_EQ(condition("finished_work", values, {}), 0) << "the point clients starved";
}

}  // namespace
}  // namespace numabench
