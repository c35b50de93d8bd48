#include "runner/config/host_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(HostSection, WarnsUnlessToldOtherwise) {
  EXPECT_EQ(load_text(with({})).experiment.host_checks, HostChecks::kWarn);
  for (const char* word : {"enforce", "warn", "off"}) {
    const Experiment experiment = load_text(with({std::string("host_checks: ") + word})).experiment;
    EXPECT_EQ(to_string(experiment.host_checks), word);
  }
  EXPECT_THAT(error_of(with({"host_checks: strict"})), HasSubstr("c.yaml:7:14"));
}

// Small runs are for any host at hand.
TEST(HostSection, EnforcesNothingOfASmallRun) {
  ConfigOverrides smoke;
  smoke.smoke = true;
  const LoadedExperiment small = load_text(with({"host_checks: enforce"}), smoke);
  EXPECT_EQ(small.experiment.host_checks, HostChecks::kWarn);
  EXPECT_EQ(small.origins.at("host_checks").text(), "--smoke");
  EXPECT_EQ(load_text(with({"host_checks: off"}), smoke).experiment.host_checks, HostChecks::kOff);
  ConfigOverrides scaled;
  scaled.scale_to_host = true;
  EXPECT_EQ(load_text(with({"host_checks: enforce"}), scaled).experiment.host_checks,
            HostChecks::kWarn);
}

TEST(HostSection, NamesValuesOfTheHost) {
  const Experiment experiment =
      load_text(with({"host_settings: {turbo: off, swappiness: 1, perf_event_paranoid: -1}"}))
          .experiment;
  EXPECT_THAT(experiment.host_settings, ElementsAre(Pair("perf_event_paranoid", "-1"),
                                                    Pair("swappiness", "1"), Pair("turbo", "off")));
  EXPECT_THAT(error_of(with({"host_settings: {turbos: off}"})), HasSubstr("did you mean 'turbo'?"));
  EXPECT_THAT(error_of(with({"host_settings: {turbo: fast}"})), HasSubstr("c.yaml:7:24"));
  EXPECT_THAT(error_of(with({"host_settings: {swappiness: low}"})), HasSubstr("c.yaml:7:29"));
}

}  // namespace
}  // namespace numabench
