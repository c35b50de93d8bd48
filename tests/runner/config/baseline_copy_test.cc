// `aa`: who gets a second copy of the baseline arm, and that it is one in everything but its name.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kTwoArms = "arms: [{name: b}, {name: a, policy: {bound: 5}}, {name: c}]";

std::vector<std::string> arms_of(const std::string& text, const ConfigOverrides& overrides = {}) {
  std::vector<std::string> names;
  for (const Arm& arm : load_text(text, overrides).experiment.arms) names.push_back(arm.name);
  return names;
}

TEST(BaselineCopy, StandsBehindTheBaselineAndHasItsCells) {
  const Experiment experiment =
      load_text(with({kTwoArms, "baseline: a", "ratios: [2, 4]", "aa: true"})).experiment;
  ASSERT_EQ(experiment.arms.size(), 4u);
  Arm copy = experiment.arms[2];
  EXPECT_EQ(copy.name, "a-aa");
  EXPECT_EQ(copy.copy_of, "a");
  const Arm& original = experiment.arm("a");
  copy.name = original.name;
  copy.description = original.description;
  copy.copy_of.clear();
  EXPECT_EQ(copy, original);

  std::vector<FactorSet> of_copy;
  std::vector<FactorSet> of_original;
  for (FactorSet cell : experiment.cells) {
    if (cell.arm == "a") of_original.push_back(cell);
    if (cell.arm != "a-aa") continue;
    cell.arm = "a";
    of_copy.push_back(cell);
  }
  EXPECT_EQ(of_copy.size(), 2u);
  EXPECT_EQ(of_copy, of_original);
}

TEST(BaselineCopy, IsTheDefaultWhereNumbersMayBePublished) {
  EXPECT_THAT(arms_of(with({kTwoArms, "duration: 300s"})), ElementsAre("b", "b-aa", "a", "c"));
  EXPECT_THAT(arms_of(with({kTwoArms, "duration: 300s", "aa: false"})), ElementsAre("b", "a", "c"));
  EXPECT_THAT(arms_of(with({kTwoArms, "duration: 3s"})), ElementsAre("b", "a", "c"));
  EXPECT_THAT(arms_of(with({kTwoArms, "duration: 3s", "aa: true"})),
              ElementsAre("b", "b-aa", "a", "c"));
  EXPECT_THAT(arms_of(with({"duration: 300s"})), ElementsAre("a")) << "nothing to compare with";
  ConfigOverrides smoke;
  smoke.smoke = true;
  EXPECT_THAT(arms_of(with({kTwoArms, "duration: 300s"}), smoke), ElementsAre("b", "a", "c"));
}

TEST(BaselineCopy, IsInTheCanonicalFormAndNotAddedTwice) {
  const Experiment experiment = load_text(with({kTwoArms, "aa: true"})).experiment;
  const std::string canonical = to_canonical_yaml(experiment);
  EXPECT_THAT(canonical, HasSubstr("copy_of: b"));
  EXPECT_EQ(load_text(canonical).experiment, experiment);
  EXPECT_THAT(error_of(canonical + "aa: true\n"), HasSubstr("'aa' stands beside 'cells'"));
}

TEST(BaselineCopy, DoesNotTakeTheNameOfAnArm) {
  EXPECT_THAT(error_of(with({"arms: [{name: a}, {name: a-aa}]", "aa: true"})),
              StartsWith("c.yaml:2:"));
}

TEST(BaselineCopy, ShowsWhereItComesFrom) {
  const std::string shown = show_config(load_text(with({kTwoArms, "baseline: a", "aa: true"})));
  EXPECT_THAT(shown, HasSubstr("- name: a-aa"));
  EXPECT_THAT(shown.substr(shown.find("- name: a-aa")), HasSubstr("bound: 5"));
}

}  // namespace
}  // namespace numabench
