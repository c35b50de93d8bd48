// Order, monitors and void rules in a config.
#include "runner/config/measure_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Experiment experiment_with(const std::vector<std::string>& edits,
                           const ConfigOverrides& overrides = {}) {
  return load_text(with(edits), overrides).experiment;
}

TEST(MeasureSection, BlocksAndTheDriftControlAreTheDefault) {
  const Experiment experiment = experiment_with({});
  EXPECT_EQ(experiment.order, RunOrder::kBlocked);
  EXPECT_FALSE(experiment.pairs_abba);
  EXPECT_TRUE(experiment.drift_control);
  EXPECT_TRUE(experiment.monitors.host);
  EXPECT_FALSE(experiment.monitors.perf);
  EXPECT_TRUE(experiment.voids.empty());
}

TEST(MeasureSection, ReadsAllOfIt) {
  const Experiment experiment =
      experiment_with({"order: blocked", "pairs: ABBA", "drift_control: false",
                       "monitors: {perf: true, host: false}",
                       "void: {other_load: 12.5%, placement_escaped: warn, disk_full: void 3}"});
  EXPECT_TRUE(experiment.pairs_abba);
  EXPECT_FALSE(experiment.drift_control);
  EXPECT_TRUE(experiment.monitors.perf);
  EXPECT_FALSE(experiment.monitors.host);
  EXPECT_EQ(experiment.voids.at("other_load"), (RuleSetting{12.5, {}}));
  EXPECT_EQ(experiment.voids.at("placement_escaped"), (RuleSetting{{}, RuleAction::kWarn}));
  EXPECT_EQ(experiment.voids.at("disk_full"), (RuleSetting{3, RuleAction::kVoid}));
}

TEST(MeasureSection, TheCommandLineChangesTheOrder) {
  ConfigOverrides overrides;
  overrides.sets = {"order=random"};
  EXPECT_EQ(experiment_with({}, overrides).order, RunOrder::kRandom);
  EXPECT_EQ(to_string(RunOrder::kRandom), "random");
}

TEST(MeasureSection, ASmokeRunHasNoDriftControl) {
  ConfigOverrides overrides;
  overrides.smoke = true;
  EXPECT_FALSE(experiment_with({}, overrides).drift_control);
}

TEST(MeasureSection, OnlyWindowsOfAMinuteAreFitToPublish) {
  EXPECT_FALSE(experiment_with({}).is_publishable());
  EXPECT_TRUE(experiment_with({"duration: 1min"}).is_publishable());
  ConfigOverrides smoke;
  smoke.smoke = true;
  EXPECT_FALSE(experiment_with({"duration: 1min"}, smoke).is_publishable());
}

TEST(MeasureSection, MistakesHaveTheirPlaceAndARemedy) {
  EXPECT_THAT(error_of(with({"void: {other_laod: 10%}"})),
              AllOf(StartsWith("c.yaml:7:"), HasSubstr("other_load")));
  EXPECT_THAT(error_of(with({"void: {other_load: much}"})), HasSubstr("a limit such as 10%"));
  EXPECT_THAT(error_of(with({"order: sorted"})), HasSubstr("'order' cannot be 'sorted'"));
  EXPECT_THAT(error_of(with({"order: random", "pairs: ABBA"})), HasSubstr("for the blocked order"));
  EXPECT_THAT(error_of(with({"monitors: {cpu: true}"})), HasSubstr("unknown key 'cpu'"));
}

}  // namespace
}  // namespace numabench
