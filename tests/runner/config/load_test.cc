// What a good config comes to: arms on top of each other, placements, --set, origins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <locale>
#include <string>

#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

const std::string kRest = "workloads: zipfian\npools: 64MiB\nratios: 2\nclients: 4\n";

ConfigOverrides sets(std::vector<std::string> assignments) {
  ConfigOverrides overrides;
  overrides.sets = std::move(assignments);
  return overrides;
}

using Load = ConfigDirectory;

TEST(LoadText, DefaultsOfAShortConfig) {
  const Experiment experiment = load_text("name: t\narms: {name: a}\n" + kRest).experiment;
  EXPECT_EQ(experiment.engine, "embedded");
  EXPECT_EQ(experiment.baseline, "a");
  EXPECT_EQ(experiment.runs, 3);
  EXPECT_EQ(experiment.arms[0].policy, PoolPolicy{});
  EXPECT_EQ(experiment.placements[0].name, "free");
  EXPECT_EQ(experiment.cells[0].regime, Regime::kNone);
  EXPECT_EQ(experiment.cells[0].pool_bytes, 64u << 20);
}

TEST(LoadText, SpansInSecondsAndLaps) {
  const auto load = [](const std::string& more) {
    return load_text("name: t\narms: {name: a}\n" + kRest + more).experiment;
  };
  EXPECT_EQ(load("duration: 1.5s\n").duration.text(), "1.5s");
  EXPECT_EQ(load("duration: 2min\n").duration.text(), "120s");
  EXPECT_EQ(load("duration: 3 laps\n").duration.text(), "3 laps");
  EXPECT_EQ(load("warmup: 0s\n").warmup.amount, 0);
  EXPECT_EQ(load("duration: 3 laps\n").duration_limit_seconds, 60);
  EXPECT_EQ(load("duration: 3 laps\nduration_limit: 5min\n").duration_limit_seconds, 300);
  EXPECT_EQ(load("duration: 3s\nduration_limit: 5min\n").duration_limit_seconds, 0);
  EXPECT_EQ(load("warmup: steady\n").warmup.text(), "steady");
  EXPECT_EQ(load("warmup: steady\n").warmup_limit_seconds, 120);
  EXPECT_EQ(load("warmup: steady\nwarmup_limit: 10s\n").warmup_limit_seconds, 10);
}

TEST(LoadText, AServerReadsUnlessItIsToldOtherwise) {
  const std::string server = "name: t\nengine: postgres\narms: {name: a}\n" + kRest;
  EXPECT_EQ(load_text(server).experiment.cells[0].regime, Regime::kPageCache);
  EXPECT_EQ(load_text(server + "regimes: real-io\n").experiment.cells[0].regime, Regime::kRealIo);
}

TEST(LoadText, SeedsUseAll64Bits) {
  const Experiment experiment =
      load_text("name: t\narms: {name: a}\nseed: 18446744073709551615\n" + kRest).experiment;
  EXPECT_EQ(experiment.seed, 18446744073709551615u);
}

TEST(LoadText, AnchorsAreFine) {
  const Experiment experiment =
      load_text(
          "name: t\narms:\n  - {name: a, policy: &p {bound: 7}}\n  - {name: b, policy: *p}\n" +
          kRest)
          .experiment;
  EXPECT_EQ(experiment.arm("b").policy.bound, 7);
}

TEST(LoadText, AmbiguousWordsAreFineAsChoicesAndInQuotes) {
  const Experiment experiment =
      load_text("name: \"yes\"\nhuge_pages: off\narms: {name: a, policy: {balance: off}}\n" + kRest)
          .experiment;
  EXPECT_EQ(experiment.name, "yes");
  EXPECT_EQ(experiment.huge_pages, SharedRegion::HugePages::kOff);
}

TEST(LoadText, TheSameWorkloadTwiceUnderLabels) {
  const Experiment experiment =
      load_text(
          "name: t\narms: {name: a}\nworkloads: [zipfian, {name: zipfian, label: steep, s: 1.50}]\n"
          "pools: 64MiB\nratios: 2\nclients: 4\n")
          .experiment;
  EXPECT_EQ(experiment.cells[1].workload, "steep");
  EXPECT_EQ(experiment.workload("steep").parameters.at("s"), "1.5");
  EXPECT_EQ(experiment.workload("zipfian").parameters.at("s"), "1.1");
}

TEST(LoadText, PlacementsNameTheTopology) {
  const Experiment experiment = load_text("name: t\narms: {name: a}\n" + kRest +
                                          "placements:\n"
                                          "  - spread\n"
                                          "  - name: split\n"
                                          "    server: {cpunodebind: 0, membind: 0}\n"
                                          "    clients: {cpunodebind: \"1\", localalloc: true}\n"
                                          "    scanners: {physcpubind: all, interleave: all}\n"
                                          "    background_writer: {physcpubind: \"3,5-6\","
                                          " preferred: 1}\n")
                                    .experiment;
  EXPECT_EQ(experiment.placement("spread").spreads.at("clients"), Spread::kNodes);
  EXPECT_EQ(experiment.placement("spread").spreads.at("scanners"), Spread::kNodes);
  const auto& roles = experiment.placement("split").roles;
  EXPECT_EQ(roles.at("server"), (Placement{{0, 1, 2, 3, 4, 5, 6, 7}, MemoryPolicy::kBind, {0}}));
  EXPECT_EQ(roles.at("clients"),
            (Placement{{8, 9, 10, 11, 12, 13, 14, 15}, MemoryPolicy::kLocal, {}}));
  EXPECT_EQ(roles.at("scanners"),
            (Placement{two_nodes().allowed_cpus(), MemoryPolicy::kInterleave, {0, 1}}));
  EXPECT_EQ(roles.at("background_writer"), (Placement{{3, 5, 6}, MemoryPolicy::kPreferred, {1}}));
}

TEST(LoadText, PlacementsUnderstandNumactlsNotation) {
  const Experiment experiment =
      load_text("name: t\narms: {name: a}\n" + kRest +
                "placements:\n"
                "  - name: p\n"
                "    server: {cpunodebind: \"!0\", membind: same, balancing: true, touch: true}\n"
                "    clients: {physcpubind: +0-1, preferred_many: all, spread: smt-last}\n"
                "    scanners: {cpunodebind: +1, weighted_interleave: +0, spread: cores}\n"
                "    loader: {physcpubind: \"!+0-14\"}\n")
          .experiment;
  const PlacementConfig& placement = experiment.placement("p");
  EXPECT_EQ(placement.roles.at("server"),
            (Placement{{8, 9, 10, 11, 12, 13, 14, 15}, MemoryPolicy::kBind, {1}, true, true}));
  EXPECT_EQ(placement.roles.at("clients"),
            (Placement{{0, 1}, MemoryPolicy::kPreferredMany, {0, 1}}));
  EXPECT_EQ(placement.spreads.at("clients"), Spread::kSmtLast);
  EXPECT_EQ(placement.roles.at("scanners"),
            (Placement{{8, 9, 10, 11, 12, 13, 14, 15}, MemoryPolicy::kWeightedInterleave, {0}}));
  EXPECT_EQ(placement.spreads.at("scanners"), Spread::kCores);
  EXPECT_EQ(placement.roles.at("loader"), (Placement{{15}, MemoryPolicy::kDefault, {}}));
  EXPECT_EQ(load_text(to_canonical_yaml(experiment)).experiment.placement("p"), placement);
}

TEST_F(Load, ArmsExtendOneAnother) {
  write("arms/base.yaml", "description: the base\npolicy: {bound: 1, freelist: true}\n");
  write("arms/middle.yaml", "extends: base\npolicy: {bound: 2, batch: force}\n");
  const std::string config = write("c.yaml",
                                   "name: t\narms:\n  - base\n  - {name: top, extends: middle, "
                                   "policy: {batch: auto}}\n" +
                                       kRest);
  const LoadedExperiment loaded = load_experiment(config, two_nodes());
  PoolPolicy expected;
  expected.freelist = true;
  expected.bound = 2;
  expected.batch = PoolPolicy::Batch::kAuto;
  EXPECT_EQ(loaded.experiment.arm("top").policy, expected);
  EXPECT_EQ(loaded.experiment.arm("top").description, "");
  EXPECT_EQ(loaded.experiment.arm("base").description, "the base");
  EXPECT_EQ(loaded.origins.at("arms.top.policy.freelist").text(), path("arms/base.yaml") + ":2:30");
  EXPECT_EQ(loaded.origins.at("arms.top.policy.bound").text(), path("arms/middle.yaml") + ":2:17");
  EXPECT_EQ(loaded.origins.at("arms.top.policy.batch").text(), config + ":4:50");
}

// What a file extends is not what an experiment happens to call by the same name.
TEST_F(Load, AnInlineArmMayExtendTheFileOfItsName) {
  write("arms/a.yaml", "description: of the file\npolicy: {bound: 1, freelist: true}\n");
  write("arms/b.yaml", "extends: a\n");
  const std::string config = write(
      "c.yaml",
      "name: t\narms: [b, {name: a, extends: a, policy: {bound: 9}}, {name: c, extends: a}]\n" +
          kRest);
  const Experiment experiment = load_experiment(config, two_nodes()).experiment;
  EXPECT_EQ(experiment.arm("a").policy.bound, 9);
  EXPECT_TRUE(experiment.arm("a").policy.freelist);
  EXPECT_EQ(experiment.arm("a").description, "of the file");
  EXPECT_EQ(experiment.arm("b").policy.bound, 1);
  EXPECT_EQ(experiment.arm("c").policy.bound, 9);
}

TEST_F(Load, SetReachesArmsOfFilesWorkloadsAndLists) {
  write("arms/a.yaml", "policy: {bound: 1, freelist: true}\n");
  const std::string config = write("c.yaml", "name: t\narms: [a]\n" + kRest);
  const LoadedExperiment loaded = load_experiment(
      config, two_nodes(),
      sets({"arms.a.policy.bound=32", "workloads=[zipfian, uniform]", "workloads.zipfian.s=1.2",
            "ratios=[1.15,2]", "ratios.1=3", "clients=2 * cpus", "runs=5", "notes='a: b'"}));
  const Experiment& experiment = loaded.experiment;
  EXPECT_EQ(experiment.arm("a").policy.bound, 32);
  EXPECT_TRUE(experiment.arm("a").policy.freelist);
  EXPECT_EQ(experiment.workload("zipfian").parameters.at("s"), "1.2");
  EXPECT_EQ(experiment.cells.size(), 4u);
  EXPECT_EQ(experiment.cells[1].ratio, 3);
  EXPECT_EQ(experiment.cells[0].clients, 32);
  EXPECT_EQ(experiment.runs, 5);
  EXPECT_EQ(experiment.notes, "a: b");
  EXPECT_EQ(loaded.origins.at("runs").text(), "--set runs=5");
  EXPECT_EQ(loaded.origins.at("arms.a.policy.bound").text(), "--set arms.a.policy.bound=32");
  EXPECT_EQ(loaded.origins.at("cells.0.clients").expression, "2 * cpus");
}

TEST(LoadText, SetsApplyInOrderAndOptionsWinOverThem) {
  ConfigOverrides overrides = sets({"seed=5", "seed=6", "runs=7"});
  overrides.runs = 2;
  const LoadedExperiment loaded = load_text("name: t\narms: {name: a}\n" + kRest, overrides);
  EXPECT_EQ(loaded.experiment.seed, 6u);
  EXPECT_EQ(loaded.experiment.runs, 2);
  EXPECT_EQ(loaded.origins.at("runs").text(), "--runs");
}

TEST(LoadText, SetGoesIntoASingleNameThatStandsForAList) {
  const Experiment experiment = load_text("name: t\narms: {name: a}\n" + kRest,
                                          sets({"workloads.zipfian.s=2", "arms.a.policy.bound=3"}))
                                    .experiment;
  EXPECT_EQ(experiment.workload("zipfian").parameters.at("s"), "2");
  EXPECT_EQ(experiment.arm("a").policy.bound, 3);
}

TEST(LoadText, SetGoesThroughNamesWithDotsAndIntoPlacements) {
  const Experiment experiment =
      load_text("name: t\narms: [{name: a-1.5}]\n" + kRest +
                    "placements: [{name: p, server: {membind: 0}}]\n",
                sets({"arms.a-1.5.policy.bound=4", "placements.p.server.membind=1",
                      "arms.0.description=x"}))
          .experiment;
  EXPECT_EQ(experiment.arm("a-1.5").policy.bound, 4);
  EXPECT_EQ(experiment.arm("a-1.5").description, "x");
  EXPECT_EQ(experiment.placement("p").roles.at("server").memory_nodes, IdSet{1});
}

/// A locale whose decimal sign is a comma, for streams; and the C library's where one is installed.
class CommaLocale {
 public:
  CommaLocale() : before_(std::locale::global(std::locale(std::locale(), new Comma))) {
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"}) {
      if (std::setlocale(LC_ALL, name) != nullptr) break;
    }
  }
  ~CommaLocale() {
    std::locale::global(before_);
    std::setlocale(LC_ALL, "C");
  }

 private:
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale before_;
};

TEST(LoadText, NumbersIgnoreTheLocale) {
  const std::string text =
      "name: t\narms: {name: a}\nworkloads: {name: zipfian, s: 0.1}\n"
      "pools: 1.5GiB\nratios: 1.15\nclients: 0.5 * cpus\nduration: 2.5s\n"
      "seed: 1234567\n";
  const Experiment expected = load_text(text).experiment;
  const std::string canonical = to_canonical_yaml(expected);
  const CommaLocale comma;
  EXPECT_EQ(load_text(text).experiment, expected);
  EXPECT_EQ(to_canonical_yaml(expected), canonical);
  EXPECT_EQ(expected.cells[0].ratio, 1.15);
  EXPECT_EQ(expected.workloads[0].parameters.at("s"), "0.1");
}

}  // namespace
}  // namespace numabench
