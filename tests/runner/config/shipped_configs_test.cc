// The configs that come with numabench.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/config/yaml_tree.h"
#include "tests/paths.h"
#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

const std::string kConfigs = source_dir() + "/configs";

std::vector<std::string> yaml_files(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  return files;
}

TEST(ShippedConfigs, LoadOnBigAndSmallHosts) {
  const std::vector<std::string> files = yaml_files(kConfigs);
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) {
    for (const Topology& host :
         {two_nodes(), Topology::of_synthetic("pu:1"), Topology::of_this_host()}) {
      const Experiment experiment = load_experiment(file, host).experiment;
      EXPECT_EQ(experiment.name, std::filesystem::path(file).stem().string());
      const std::string canonical = to_canonical_yaml(experiment);
      EXPECT_EQ(load_experiment_text(canonical, "stored", host).experiment, experiment);
    }
  }
}

TEST(ShippedConfigs, EveryArmLoadsAndSaysWhatItIs) {
  std::set<std::string> names;
  for (const std::string& file : yaml_files(kConfigs + "/arms")) {
    const std::string name = std::filesystem::path(file).stem().string();
    const std::string text =
        "name: t\narms: [" + name + "]\nworkloads: zipfian\npools: 64MiB\nratios: 2\nclients: 1\n";
    const Experiment experiment =
        load_experiment_text(text, kConfigs + "/t.yaml", two_nodes()).experiment;
    EXPECT_FALSE(experiment.arm(name).description.empty()) << name;
    names.insert(name);
  }
  for (const char* canonical : {"stock", "numa-only", "full-series", "cooling-stage"}) {
    EXPECT_TRUE(names.contains(canonical)) << canonical;
  }
}

TEST(ShippedConfigs, StockIsThePolicyOfNoPatch) {
  const std::string text =
      "name: t\narms: [stock]\nworkloads: zipfian\npools: 64MiB\nratios: 2\nclients: 1\n";
  const Experiment experiment =
      load_experiment_text(text, kConfigs + "/t.yaml", two_nodes()).experiment;
  EXPECT_EQ(experiment.arm("stock").policy, PoolPolicy{});
}

TEST(ShippedConfigs, QuickHasThreeArmsOverThreeWorkloadsAndFitsItsTime) {
  const Experiment quick =
      load_experiment(kConfigs + "/quick.yaml", Topology::of_synthetic("pu:2")).experiment;
  EXPECT_EQ(quick.arms.size(), 3u);
  EXPECT_EQ(quick.workloads.size(), 3u);
  EXPECT_EQ(quick.runs, 3);
  for (const Arm& arm : quick.arms) {
    EXPECT_EQ(arm.policy.partitions, arm.name == "stock" ? 1 : 2) << arm.name;
  }
  ASSERT_EQ(quick.warmup.unit, Span::Unit::kSeconds);
  ASSERT_EQ(quick.duration.unit, Span::Unit::kSeconds);
  const auto runs = static_cast<double>(quick.cells.size()) * quick.runs;
  EXPECT_LE(runs * (quick.warmup.amount + quick.duration.amount), 270);
}

// The sizes are worked out by hand from the published tables: arms × workloads × ratios or pools ×
// clients.
struct Published {
  std::string name;
  std::size_t arms;
  std::size_t cells;
  int clients;  ///< of the cell with the most
  Regime regime;
};

TEST(ShippedConfigs, TheExperimentsOfTheThreadsHaveThePublishedFactors) {
  for (const Published& published : std::vector<Published>{
           {"second-chance", 3, 3 * 3, 24, Regime::kNone},
           {"cooling-stage-uniform", 2, 2 * 6, 384, Regime::kNone},
           {"cooling-stage-hotscan", 2, 2 * 6, 384, Regime::kNone},
           {"cooling-stage-real-io", 2, 2 * 2 * 2, 256, Regime::kRealIo},
           {"shm-interleave", 2, 2, 64, Regime::kPageCache},
           {"seqscan-series", 3, 3 * 2 * 3, 32, Regime::kNone},
           {"prewarm-freelist", 2, 2 * 2, 40, Regime::kNone},
           {"bound-threshold", 4, 4, 24, Regime::kNone},
       }) {
    SCOPED_TRACE(published.name);
    const Experiment experiment =
        load_experiment(kConfigs + "/" + published.name + ".yaml", two_nodes()).experiment;
    EXPECT_EQ(experiment.engine, "embedded");
    EXPECT_EQ(experiment.runs, 3);
    EXPECT_FALSE(experiment.notes.empty());
    EXPECT_EQ(experiment.host_checks, HostChecks::kEnforce);
    EXPECT_EQ(std::ranges::count(experiment.arms, std::string(), &Arm::copy_of),
              static_cast<std::ptrdiff_t>(published.arms));
    const auto is_published = [&](const FactorSet& cell) {
      return experiment.arm(cell.arm).copy_of.empty();  // the A/A copy is ours
    };
    EXPECT_EQ(std::ranges::count_if(experiment.cells, is_published),
              static_cast<std::ptrdiff_t>(published.cells));
    int clients = 0;
    for (const FactorSet& cell : experiment.cells) {
      clients = std::max(clients, cell.clients);
      EXPECT_EQ(cell.regime, published.regime);
    }
    EXPECT_EQ(clients, published.clients);
  }
}

// A page more or less would be another data set, to be loaded and kept beside the first.
TEST(ShippedConfigs, AFixedWorkingSetIsTheSameToThePageInEveryCell) {
  for (const char* name :
       {"cooling-stage-uniform", "cooling-stage-hotscan", "cooling-stage-real-io"}) {
    std::set<std::uint64_t> pages;
    std::set<std::uint64_t> pools;
    for (const FactorSet& cell :
         load_experiment(kConfigs + "/" + name + ".yaml", two_nodes()).experiment.cells) {
      pages.insert(cell.working_set_bytes / 8192);
      pools.insert(cell.pool_bytes);
    }
    EXPECT_EQ(pages.size(), 1u) << name;
    EXPECT_GT(pools.size(), 1u) << name;
  }
}

TEST(ShippedConfigs, TheSmokeOfAServerNeedsNothingButTheInstalledOne) {
  const Experiment smoke =
      load_experiment(kConfigs + "/postgres-smoke.yaml", two_nodes()).experiment;
  EXPECT_EQ(smoke.engine, "postgres");
  ASSERT_EQ(smoke.arms.size(), 1u);
  EXPECT_EQ(smoke.arms[0].source.kind, ArmSource::Kind::kBindir);
  EXPECT_TRUE(smoke.require_full_pool);
  EXPECT_EQ(smoke.cells.size(), 3u * 2u);
  for (const FactorSet& cell : smoke.cells) EXPECT_EQ(cell.regime, Regime::kPageCache);
}

/// The shipped configs in a folder where patches may be put, as on the host of a user.
class ShippedConfigsOnAServer : public ConfigDirectory {
 protected:
  ShippedConfigsOnAServer() {
    std::filesystem::copy(kConfigs, path(""), std::filesystem::copy_options::recursive);
    std::filesystem::copy(source_dir() + "/hosts/profiles", path("profiles"));
    std::filesystem::remove_all(path("patches"));  // the developer's own
    overrides_.sets = {"engine=postgres"};
  }

  void write_patches(const std::string& folder, int count) const {
    for (int number = 1; number <= count; ++number) {
      write("patches/" + folder + "/000" + std::to_string(number) + "-step.patch",
            "diff --git a/step b/step\nnew file mode 100644\n--- /dev/null\n+++ b/step\n"
            "@@ -0,0 +1 @@\n+step\n");
    }
  }

  Experiment load(const std::string& name) const {
    return load_experiment(path(name + ".yaml"), two_nodes(), overrides_).experiment;
  }

  ConfigOverrides overrides_;
};

TEST_F(ShippedConfigsOnAServer, WithoutPatchesSayWhereToPutThem) {
  const std::map<std::string, std::string> folders{{"second-chance", "shm-numa"},
                                                   {"cooling-stage-uniform", "cooling-stage"},
                                                   {"cooling-stage-hotscan", "cooling-stage"},
                                                   {"cooling-stage-real-io", "cooling-stage"},
                                                   {"shm-interleave", "shm-interleave"},
                                                   {"seqscan-series", "seqscan-series"},
                                                   {"prewarm-freelist", "no-freelist"},
                                                   {"bound-threshold", "shm-numa"}};
  for (const auto& [name, folder] : folders) {
    EXPECT_THAT(error_of_file(name + ".yaml", overrides_),
                testing::HasSubstr("no file matches " + path("patches/" + folder + "/*.patch") +
                                   "; put the patches there: they are not shipped"))
        << name;
  }
}

TEST_F(ShippedConfigsOnAServer, WithPatchesEveryArmHasSourcesAndARegimeOfAServer) {
  for (const char* folder : {"shm-numa", "second-chance", "cooling-stage", "shm-interleave",
                             "seqscan-series", "no-freelist", "unbounded", "bound-4", "bound-32"}) {
    write_patches(folder, 1);
  }
  for (const std::string& file : yaml_files(path(""))) {
    const std::string name = std::filesystem::path(file).stem().string();
    if (name == "quick") continue;  // of the regime `none`, which no server has
    SCOPED_TRACE(name);
    const Experiment experiment = load(name);
    for (const Arm& arm : experiment.arms) EXPECT_NE(arm.source.kind, ArmSource::Kind::kNone);
    for (const FactorSet& cell : experiment.cells) EXPECT_NE(cell.regime, Regime::kNone);
  }
}

TEST_F(ShippedConfigsOnAServer, SeqscanSeriesHasAnArmForEachPrefixWithTheSwitchOffAndOn) {
  write_patches("seqscan-series", 3);
  const Experiment experiment = load("seqscan-series");
  std::vector<std::string> arms;
  for (const Arm& arm : experiment.arms) arms.push_back(arm.name);
  EXPECT_THAT(arms, testing::ElementsAre("stock", "stock-aa", "series-off-0001", "series-off-0002",
                                         "series-off-0003", "series-on-0001", "series-on-0002",
                                         "series-on-0003"));
  EXPECT_EQ(experiment.arm("series-off-0002").patch_limit, 2);
  EXPECT_EQ(experiment.arm("series-on-0002").series, "series-on");
  EXPECT_EQ(experiment.cells.size(), 8u * 2u * 3u);  // arms × queries × clients
}

TEST_F(ShippedConfigsOnAServer, EachBoundIsABuildOfItsOwn) {
  for (const char* folder : {"shm-numa", "second-chance", "unbounded", "bound-4", "bound-32"}) {
    write_patches(folder, 1);
  }
  std::set<std::vector<std::string>> builds;
  for (const Arm& arm : load("bound-threshold").arms) builds.insert(arm.patches);
  EXPECT_EQ(builds.size(), 4u);
}

// A file that is cut anywhere, as a full disk or a broken download leaves it, is an error or an
// experiment, and its error is one line.
TEST(ShippedConfigs, EveryTruncationIsAnErrorOrAnExperiment) {
  const std::string text = read_config_file(kConfigs + "/quick.yaml");
  int errors = 0;
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      load_experiment_text(text.substr(0, length), kConfigs + "/quick.yaml", two_nodes());
    } catch (const Error& error) {
      ++errors;
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      EXPECT_FALSE(error.place().empty()) << error.what();
      EXPECT_FALSE(error.remedy().empty()) << error.what();
    }
  }
  EXPECT_GT(errors, 0);
}

// The same for one byte changed: whatever it becomes, nothing but an Error comes out.
TEST(ShippedConfigs, EveryChangedByteIsAnErrorOrAnExperiment) {
  const std::string text = read_config_file(kConfigs + "/quick.yaml");
  for (const char byte : {'\0', '\t', '\n', ' ', ':', '[', '{', '"', '*', '&', '-', '\xff'}) {
    for (std::size_t at = text.find("name:"); at < text.size(); at += 3) {
      std::string changed = text;
      changed[at] = byte;
      try {
        load_experiment_text(changed, kConfigs + "/quick.yaml", two_nodes());
      } catch (const Error& error) {
        EXPECT_FALSE(error.place().empty()) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace numabench
