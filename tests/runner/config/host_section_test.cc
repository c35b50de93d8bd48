#include "runner/config/host_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/paths.h"
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

class HostProfile : public ConfigDirectory {
 protected:
  LoadedExperiment load(const std::string& name) const {
    return load_experiment(path(name), two_nodes());
  }
};

TEST_F(HostProfile, IsBesideTheConfigOrOneOfOursOrAPath) {
  const std::string profile = "host_checks: enforce\nhost_settings: {turbo: off}\n";
  write("configs/profiles/near.yaml", profile);
  write("hosts/profiles/ours.yaml", profile);
  write("elsewhere/p.yaml", profile);
  const std::vector<std::string> names{"near", "ours", "../elsewhere/p.yaml",
                                       path("elsewhere/p.yaml")};
  for (const std::string& name : names) {
    write("configs/c.yaml", with({"profile: " + name}));
    const Experiment experiment = load("configs/c.yaml").experiment;
    EXPECT_EQ(experiment.host_checks, HostChecks::kEnforce) << name;
    EXPECT_THAT(experiment.host_settings, ElementsAre(Pair("turbo", "off"))) << name;
  }
}

TEST_F(HostProfile, GivesWayToWhatTheExperimentSaysItself) {
  write("profiles/p.yaml",
        "description: a host\nhost_checks: enforce\nhost_settings: {turbo: off, swappiness: 1}\n");
  write("c.yaml", with({"profile: p", "host_checks: warn", "host_settings: {swappiness: 10}"}));
  const LoadedExperiment loaded = load("c.yaml");
  EXPECT_EQ(loaded.experiment.host_checks, HostChecks::kWarn);
  EXPECT_THAT(loaded.experiment.host_settings,
              ElementsAre(Pair("swappiness", "10"), Pair("turbo", "off")));
  EXPECT_EQ(loaded.origins.at("host_settings.turbo").text(), path("profiles/p.yaml") + ":3:24");
  EXPECT_EQ(loaded.origins.at("host_settings.swappiness").text(), path("c.yaml") + ":9:29");
}

// So that a results file needs no other: it is the same experiment where there is no such profile.
TEST_F(HostProfile, IsStoredAsWhatItSays) {
  write("profiles/p.yaml", "host_checks: enforce\nhost_settings: {turbo: off}\n");
  write("c.yaml", with({"profile: p"}));
  const Experiment experiment = load("c.yaml").experiment;
  EXPECT_EQ(load_text(to_canonical_yaml(experiment)).experiment, experiment);
}

TEST_F(HostProfile, ErrorsSayWhere) {
  write("c.yaml", with({"profile: metall"}));
  EXPECT_THAT(error_of_file("c.yaml"), HasSubstr("c.yaml:7:10: there is no profile 'metall': no "));
  EXPECT_THAT(error_of_file("c.yaml"), HasSubstr(path("profiles/metall.yaml")));
  write("profiles/p.yaml", "host_settings: {turbos: off}\n");
  write("c.yaml", with({"profile: p"}));
  EXPECT_THAT(error_of_file("c.yaml"), HasSubstr("profiles/p.yaml:1:17"));
  write("profiles/p.yaml", "runs: 3\n");
  EXPECT_THAT(error_of_file("c.yaml"), HasSubstr("unknown key 'runs' in the profile"));
}

TEST(ShippedProfiles, LoadByTheirNames) {
  std::map<std::string, HostChecks> checks;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() + "/hosts/profiles")) {
    const std::string name = file.path().stem();
    const Experiment experiment =
        load_experiment_text(with({"profile: " + name}), source_dir() + "/configs/t.yaml",
                             two_nodes())
            .experiment;
    EXPECT_EQ(experiment.host_settings.at("numa_balancing"), "0") << name;
    checks[name] = experiment.host_checks;
  }
  EXPECT_EQ(checks.at("metal"), HostChecks::kEnforce);
  EXPECT_EQ(checks.at("vm"), HostChecks::kWarn);
}

}  // namespace
}  // namespace numabench
