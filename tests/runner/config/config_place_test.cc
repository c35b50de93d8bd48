// Errors whose place is not in the config itself: options of the command line and other files.
#include <gtest/gtest.h>

#include <string>

#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

TEST(ConfigPlace, OverridesOfTheCommandLine) {
  const auto set = [](const std::string& assignment) {
    ConfigOverrides overrides;
    overrides.sets = {assignment};
    return error_of(with({"ratios: [2, 4]", "seed: 1"}), overrides);
  };
  EXPECT_EQ(set("rns=3"), "--set rns=3: unknown key 'rns' in the experiment; did you mean 'runs'?");
  EXPECT_EQ(set("runs=many"),
            "--set runs=many: 'runs' must be a whole number, not 'many'; write a number of at "
            "least 1");
  EXPECT_EQ(set("runs"), "--set runs: not an assignment; write --set path.to.key=value");
  EXPECT_EQ(set("seed.x=1"),
            "--set seed.x=1: 'seed' is one value, nothing is below it; end the path at 'seed'");
  EXPECT_EQ(set("ratios.2=1"),
            "--set ratios.2=1: 'ratios' has 2 items; use an index counted from 0, or set the whole "
            "list");
  EXPECT_EQ(set("arms.b.policy.bound=1"),
            "--set arms.b.policy.bound=1: 'arms' has no item 'b'; known: a");
  EXPECT_EQ(set("arms.a.policy.bond=1"),
            "--set arms.a.policy.bond=1: unknown key 'bond' in the policy of an arm; did you mean "
            "'bound'?");
  EXPECT_EQ(set("arms.a.policy.bound=0010"),
            "--set arms.a.policy.bound=0010: 'bound' is 0010, which some YAML readers take for "
            "octal; write 10");
  EXPECT_EQ(set("runs=[1"),
            "--set runs=[1: not YAML: end of sequence flow not found; check the brackets, quotes "
            "and indentation up to this place");
  EXPECT_EQ(set("a..b=1"), "--set a..b=1: an empty step in the path; write a.b.c=value");
}

TEST(ConfigPlace, RunsOfTheCommandLine) {
  ConfigOverrides overrides;
  overrides.runs = 0;
  EXPECT_EQ(error_of(with({}), overrides), "--runs: not a number of runs; give at least 1");
}

TEST(ConfigPlace, NodesThatTheHostLacksAreAPreflightError) {
  try {
    load_text(with({"placements: [{name: p, server: {cpunodebind: 7}}]"}));
    ADD_FAILURE() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  }
}

using ConfigFilePlace = ConfigDirectory;

TEST_F(ConfigFilePlace, MissingFileAndDirectory) {
  EXPECT_EQ(error_of_file("absent.yaml"), path("absent.yaml") +
                                              ": cannot be read (No such file or directory); check "
                                              "the path of the config");
  EXPECT_EQ(error_of_file("."), path(".") + ": is a directory; name a file in it");
}

TEST_F(ConfigFilePlace, InTheFileOfAnArm) {
  write("c.yaml", with({"arms: [a]"}));
  write("arms/a.yaml", "policy:\n  bond: 3\n");
  EXPECT_EQ(error_of_file("c.yaml"),
            path("arms/a.yaml") +
                ":2:3: unknown key 'bond' in the policy of an arm; did you mean 'bound'?");
  write("arms/a.yaml", "name: a\n");
  EXPECT_EQ(error_of_file("c.yaml"),
            path("arms/a.yaml") +
                ":1:1: unknown key 'name' in the file of an arm; known: description, extends, "
                "policy, source, patches, series, settings");
}

TEST_F(ConfigFilePlace, ArmNamesTheFilesThereAre) {
  write("c.yaml", with({"arms: [numa-onyl]"}));
  write("arms/numa-only.yaml", "description: x\n");
  EXPECT_EQ(error_of_file("c.yaml"), path("c.yaml") +
                                         ":2:8: arm 'numa-onyl' is not defined, neither here nor "
                                         "as " +
                                         path("arms") +
                                         "/numa-onyl.yaml; did you mean 'numa-only'?");
}

TEST_F(ConfigFilePlace, CycleOfFiles) {
  write("c.yaml", with({"arms: [a]"}));
  write("arms/a.yaml", "extends: b\n");
  write("arms/b.yaml", "extends: a\n");
  EXPECT_EQ(error_of_file("c.yaml"),
            path("arms/b.yaml") +
                ":1:10: arm 'a' extends itself through 'b'; let one of them stand alone");
}

}  // namespace
}  // namespace numabench
