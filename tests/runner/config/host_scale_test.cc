// --scale-to-host on a host of two nodes with 16 GiB and 8 CPUs each.
#include "runner/config/host_scale.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

Experiment scaled(const std::vector<std::string>& edits, bool smoke = false) {
  ConfigOverrides overrides;
  overrides.scale_to_host = true;
  overrides.smoke = smoke;
  return load_text(with(edits), overrides).experiment;
}

TEST(HostScale, LeavesWhatFits) {
  const Experiment experiment = scaled({"regimes: page-cache"});
  EXPECT_EQ(experiment.scale, 1);
  EXPECT_EQ(experiment.cells[0].pool_bytes, 64u << 20);
}

TEST(HostScale, ShrinksAllPoolsByOneFactorAndKeepsRatios) {
  const Experiment experiment =
      scaled({"regimes: page-cache", "pools: [32GiB, 8GiB]", "ratios: [1, 3]"});
  EXPECT_DOUBLE_EQ(experiment.scale, 16.0 / (32 + 96));
  double largest = 0;
  for (const FactorSet& cell : experiment.cells) {
    EXPECT_TRUE(cell.pool_bytes == 4ull << 30 || cell.pool_bytes == 1ull << 30) << cell.pool_bytes;
    EXPECT_EQ(cell.pool_bytes % 8192, 0u);
    largest = std::max(largest, static_cast<double>(cell.pool_bytes) * (1 + cell.ratio));
  }
  EXPECT_EQ(largest, 16.0 * (1ull << 30));
}

TEST(HostScale, LeavesBookkeepingWithoutMemory) {
  EXPECT_EQ(scaled({"pools: 32GiB"}).cells[0].pool_bytes, 32ull << 30);
}

TEST(HostScale, BringsClientsDownToFourACpu) {
  const Experiment experiment = scaled({"clients: [8, 64, 384]"});
  std::vector<int> clients;
  for (const FactorSet& cell : experiment.cells) clients.push_back(cell.clients);
  EXPECT_THAT(clients, testing::ElementsAre(8, 64));
}

TEST(HostScale, IsKeptAndNotAppliedTwice) {
  const Experiment experiment = scaled({"regimes: page-cache", "pools: 32GiB"});
  ASSERT_LT(experiment.scale, 1);
  const Experiment again =
      load_experiment_text(to_canonical_yaml(experiment), "stored", two_nodes()).experiment;
  EXPECT_EQ(again, experiment);
}

TEST(HostScale, GivesWayToTheSizesOfASmokeRun) {
  EXPECT_EQ(scaled({"regimes: page-cache", "pools: 32GiB"}, true).cells[0].pool_bytes, 8u << 20);
}

}  // namespace
}  // namespace numabench
