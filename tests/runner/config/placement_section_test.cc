// Placements on a host whose nodes contradict each other: those that go by nodes are refused for
// themselves, so that the rest of the experiment runs.
#include "runner/config/placement_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/hosts/contradicting_host.h"
#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlacementsOnAContradictingHost : public ::testing::Test {
 protected:
  Experiment load(const std::string& placements) const {
    return load_experiment_text(with({"placements: [" + placements + "]"}), "c.yaml", host_)
        .experiment;
  }
  PlacementConfig placement(const std::string& text) const { return load(text).placements.front(); }

  const Topology host_ = contradicting_host();
};

TEST_F(PlacementsOnAContradictingHost, ByNodesAreRefused) {
  for (const char* placement :
       {"spread", "{name: p, server: {cpunodebind: 0}}", "{name: p, server: {membind: 0}}",
        "{name: p, server: {interleave: all}}", "{name: p, server: {preferred: 1}}",
        "{name: p, clients: {spread: nodes}}", "{name: p, clients: {spread: smt-last}}",
        "{name: p, server: {physcpubind: 0}, clients: {cpunodebind: 1, membind: same}}"}) {
    const PlacementConfig refused = this->placement(placement);
    EXPECT_THAT(refused.refusal, HasSubstr("no placement by nodes can be trusted here: "))
        << placement;
    EXPECT_THAT(refused.refusal, HasSubstr("nodes 0-1 share CPUs")) << placement;
    EXPECT_THAT(refused.roles, IsEmpty()) << placement;
    EXPECT_THAT(refused.spreads, IsEmpty()) << placement;
  }
}

TEST_F(PlacementsOnAContradictingHost, ByCpusAreAsAnywhere) {
  for (const char* placement :
       {"free", "{name: p, server: {physcpubind: 0}, clients: {physcpubind: \"!0\"}}",
        "{name: p, server: {localalloc: true}}", "{name: p, clients: {spread: cores}}"}) {
    EXPECT_EQ(this->placement(placement).refusal, "") << placement;
  }
}

TEST_F(PlacementsOnAContradictingHost, KeepTheirMistakes) {
  EXPECT_THROW(load("{name: p, server: {membind: 0, bind: 1}}"), Error);
}

TEST_F(PlacementsOnAContradictingHost, AreStoredWithTheReason) {
  const Experiment experiment = load("free, {name: p, server: {membind: 0}}");
  const std::string canonical = to_canonical_yaml(experiment);
  EXPECT_THAT(canonical, HasSubstr("refused: \"no placement by nodes"));
  EXPECT_EQ(load_text(canonical).experiment, experiment);
  EXPECT_THAT(error_of(with({"placements: [{name: p, refused: \"no\"}]"})), HasSubstr("'refused'"))
      << "a config does not say it";
}

}  // namespace
}  // namespace numabench
