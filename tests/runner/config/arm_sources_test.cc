// Arms of a server: sources, patches by path and pattern, a series as one arm a prefix, settings.
#include "runner/config/arm_sources.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string patch_text(int number, int of) {
  const std::string n = std::to_string(number);
  return "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n"
         "From: A <a@example.org>\nDate: Tue, 1 Dec 2026 00:00:00 +0000\n"
         "Subject: [PATCH " +
         n + "/" + std::to_string(of) + "] Step " + n +
         "\n\n---\n a.c | 2 +-\n\ndiff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n"
         "@@ -1 +1 @@\n-" +
         n + "\n+x" + n + "\n-- \n2.39.5\n";
}

class ArmSources : public ConfigDirectory {
 protected:
  ArmSources() {
    for (int number : {1, 2, 3}) {
      write("patches/000" + std::to_string(number) + "-step.patch", patch_text(number, 3));
    }
  }

  LoadedExperiment load(const std::vector<std::string>& edits,
                        const ConfigOverrides& overrides = {}) {
    std::vector<std::string> all{"engine: postgres"};
    all.insert(all.end(), edits.begin(), edits.end());
    write("c.yaml", with(all));
    return load_experiment(path("c.yaml"), two_nodes(), overrides);
  }
  std::string error(const std::vector<std::string>& edits) {
    try {
      load(edits);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  static std::vector<std::string> arm_names(const Experiment& experiment) {
    std::vector<std::string> names;
    for (const Arm& arm : experiment.arms) names.push_back(arm.name);
    return names;
  }
};

TEST_F(ArmSources, ArePlacesRelativeToTheFileThatNamesThem) {
  const auto source = [&](const std::string& text) {
    return load({"arms: [{name: a, source: " + text + "}]"}).experiment.arms[0].source;
  };
  EXPECT_EQ(source("{git: repo, commit: 012}"),
            (ArmSource{ArmSource::Kind::kGit, path("repo"), "012"}));
  EXPECT_EQ(source("{git: 'https://host/pg.git', commit: master}").location, "https://host/pg.git");
  EXPECT_EQ(source("{git: 'git@host:pg.git', commit: master}").location, "git@host:pg.git");
  EXPECT_EQ(source("{tarball: ../x.tar.gz}").location,
            std::filesystem::path(path("../x.tar.gz")).lexically_normal().string());
  EXPECT_EQ(source("{debian: postgresql-15}").location, "postgresql-15");
  EXPECT_EQ(source("{bindir: /usr/bin}").kind, ArmSource::Kind::kBindir);
}

TEST_F(ArmSources, AreOnePlace) {
  for (const std::string text :
       {"{git: x}", "{commit: x}", "{git: x, commit: y, debian: z}", "{tarball: x, bindir: y}"}) {
    EXPECT_THAT(error({"arms: [{name: a, source: " + text + "}]"}),
                HasSubstr("the source of an arm is not one place"))
        << text;
  }
}

TEST_F(ArmSources, TakePatchesByPatternInTheOrderOfTheirNames) {
  const Arm arm =
      load({"arms: [{name: a, patches: [patches/0003-step.patch, 'patches/000[12]*']}]"})
          .experiment.arms[0];
  EXPECT_THAT(arm.patches,
              ElementsAre(path("patches/0003-step.patch"), path("patches/0001-step.patch"),
                          path("patches/0002-step.patch")));
}

TEST_F(ArmSources, SayWhereMissingPatchesBelong) {
  EXPECT_EQ(error({"arms: [{name: a, patches: 'later/*.patch'}]"}),
            path("c.yaml") + ":2:27: no file matches " + path("later/*.patch") +
                "; put the patches there: they are not shipped with numabench");
}

TEST_F(ArmSources, NeedNoPatchesForTheEmbeddedEngine) {
  ConfigOverrides embedded;
  embedded.sets = {"engine=embedded"};
  const Experiment experiment =
      load({"arms: [{name: a, patches: 'later/*.patch', series: each-prefix}]"}, embedded)
          .experiment;
  EXPECT_THAT(arm_names(experiment), ElementsAre("a"));
  EXPECT_TRUE(experiment.arms[0].patches.empty());
}

TEST_F(ArmSources, ExtendSourcePatchesAndSettings) {
  const Arm arm = load({"arms: [{name: b, extends: a, patches: patches/0002-step.patch, settings: "
                        "{y: 3, z: on}}, {name: a, source: {debian: postgresql-15}, patches: "
                        "patches/0001-step.patch, settings: {x: 1, y: 2}}]"})
                      .experiment.arms[0];
  EXPECT_EQ(arm.source.location, "postgresql-15");
  EXPECT_THAT(arm.patches,
              ElementsAre(path("patches/0001-step.patch"), path("patches/0002-step.patch")));
  EXPECT_EQ(arm.settings,
            (std::map<std::string, std::string>{{"x", "1"}, {"y", "3"}, {"z", "on"}}));
}

TEST_F(ArmSources, MakeAnArmOfEachPrefixOfASeries) {
  const Experiment experiment =
      load({"arms: [{name: base}, {name: s, patches: 'patches/*', series: each-prefix}]",
            "baseline: base"})
          .experiment;
  EXPECT_THAT(arm_names(experiment), ElementsAre("base", "s-0001", "s-0002", "s-0003"));
  for (int step : {1, 2, 3}) {
    const Arm& arm = experiment.arms[static_cast<std::size_t>(step)];
    EXPECT_EQ(arm.series, "s");
    EXPECT_EQ(arm.patch_limit, step);
    EXPECT_EQ(arm.patches.size(), 3u);
  }
  EXPECT_EQ(experiment.cells.size(), 4u);
}

TEST_F(ArmSources, NameASeriesInEveryList) {
  const Experiment experiment =
      load({"arms: [{name: base}, {name: s, patches: 'patches/*', series: each-prefix}]",
            "matrix: [{clients: [1, 2]}, {arms: s, clients: 8}]"})
          .experiment;
  const auto with_eight = std::ranges::count(experiment.cells, 8, &FactorSet::clients);
  EXPECT_EQ(with_eight, 3);
  EXPECT_EQ(experiment.cells.size(), 4u * 2 + 3);
}

TEST_F(ArmSources, RefuseASeriesWithoutPatches) {
  EXPECT_THAT(error({"arms: [{name: s, series: each-prefix}]"}),
              HasSubstr("a series without patches; name its patches in 'patches'"));
}

TEST_F(ArmSources, SpellWhatAServersEngineIsTold) {
  const auto error_with = [&](const std::string& line) { return error({line}); };
  EXPECT_THAT(error_with("build: {sytem: meson}"), HasSubstr("did you mean 'system'?"));
  EXPECT_THAT(error_with("pgbench: {log_sampling: most}"), HasSubstr("'log_sampling'"));
  EXPECT_THAT(error_with("counters: same"), HasSubstr("same-build"));
  EXPECT_THAT(error_with("pgbench: {rate: -1}"), HasSubstr("'rate' is negative"));
  EXPECT_THAT(error_with("pgbench: {log_sampling: 0}"), HasSubstr("no share"));
  EXPECT_THAT(error_with("require_full_pool: 1"), HasSubstr("'require_full_pool'"));
  EXPECT_THAT(error_with("duration: steady"), HasSubstr("'steady' is for 'warmup'"));
}

}  // namespace
}  // namespace numabench
