// matrix, zip and exclude against products written out by nested loops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

using Row = std::tuple<std::string, std::string, std::uint64_t, double, int>;

std::vector<Row> rows_of(const Experiment& experiment) {
  std::vector<Row> rows;
  for (const FactorSet& cell : experiment.cells) {
    rows.emplace_back(cell.workload, cell.arm, cell.pool_bytes >> 20, cell.ratio, cell.clients);
  }
  return rows;
}

struct Lists {
  std::vector<std::string> workloads, arms;
  std::vector<std::uint64_t> pools_mib;
  std::vector<double> ratios;
  std::vector<int> clients;
};

std::string pool_list(const std::vector<std::uint64_t>& pools) {
  return fmt::format("[{}MiB]", fmt::join(pools, "MiB, "));
}

std::string text_of(const Lists& lists, const std::string& more = "") {
  std::string arms;
  for (const std::string& arm : lists.arms) arms += "  - name: " + arm + "\n";
  return fmt::format(
      "name: t\narms:\n{}workloads: [{}]\npools: {}\nratios: [{}]\nclients: [{}]\n{}", arms,
      fmt::join(lists.workloads, ", "), pool_list(lists.pools_mib), fmt::join(lists.ratios, ", "),
      fmt::join(lists.clients, ", "), more);
}

/// The whole product in the order that groups the arms.
std::vector<Row> product(const Lists& lists) {
  std::vector<Row> rows;
  for (const auto& workload : lists.workloads) {
    for (const auto pool : lists.pools_mib) {
      for (const auto ratio : lists.ratios) {
        for (const auto clients : lists.clients) {
          for (const auto& arm : lists.arms) rows.emplace_back(workload, arm, pool, ratio, clients);
        }
      }
    }
  }
  return rows;
}

const Lists kLists{{"zipfian", "uniform"}, {"a", "b", "c"}, {64, 128}, {1.15, 2, 4}, {1, 8}};

TEST(Cells, TheProductInOrder) {
  EXPECT_EQ(rows_of(load_text(text_of(kLists)).experiment), product(kLists));
}

TEST(Cells, RandomListsAgreeWithNestedLoops) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    Lists lists = kLists;
    lists.arms.resize(1 + random() % 3);
    lists.workloads.resize(1 + random() % 2);
    lists.pools_mib.resize(1 + random() % 2);
    lists.ratios.resize(1 + random() % 3);
    lists.clients.resize(1 + random() % 2);
    EXPECT_EQ(rows_of(load_text(text_of(lists)).experiment), product(lists));
  }
}

TEST(Cells, ZipVariesTogether) {
  const auto rows = rows_of(load_text(text_of(kLists, "zip: [[pools, clients]]\n")).experiment);
  std::vector<Row> expected;
  for (const Row& row : product(kLists)) {
    const bool first = std::get<2>(row) == 64 && std::get<4>(row) == 1;
    const bool second = std::get<2>(row) == 128 && std::get<4>(row) == 8;
    if (first || second) expected.push_back(row);
  }
  EXPECT_EQ(rows, expected);
}

TEST(Cells, TwoZips) {
  const auto rows = rows_of(
      load_text(text_of(kLists, "zip: [[clients, workloads], [ratios, arms]]\n")).experiment);
  const std::vector<std::string> arms{"a", "b", "c"};
  std::vector<Row> expected;
  for (int pair = 0; pair < 2; ++pair) {
    for (const std::uint64_t pool : kLists.pools_mib) {
      for (std::size_t triple = 0; triple < 3; ++triple) {
        expected.emplace_back(kLists.workloads[static_cast<std::size_t>(pair)], arms[triple], pool,
                              kLists.ratios[triple],
                              kLists.clients[static_cast<std::size_t>(pair)]);
      }
    }
  }
  EXPECT_EQ(rows, expected);
}

TEST(Cells, ExcludeLeavesOutWhatAgreesWithEveryFactorNamed) {
  const std::string exclude =
      "exclude: [{arm: b, ratio: 4}, {pool: 128MiB, clients: [8]}, {workload: uniform, arm: [a, "
      "c]}]\n";
  std::vector<Row> expected;
  for (const Row& row : product(kLists)) {
    const auto& [workload, arm, pool, ratio, clients] = row;
    if (arm == "b" && ratio == 4) continue;
    if (pool == 128 && clients == 8) continue;
    if (workload == "uniform" && arm != "b") continue;
    expected.push_back(row);
  }
  EXPECT_EQ(rows_of(load_text(text_of(kLists, exclude)).experiment), expected);
}

TEST(Cells, MatrixIsTheUnionOfItsBlocks) {
  const std::string matrix =
      "matrix:\n"
      "  - {arms: [a, b], ratios: 2}\n"
      "  - {ratios: [2, 4], clients: 8, arms: b}\n";
  Lists first = kLists;
  first.arms = {"a", "b"};
  first.ratios = {2};
  Lists second = kLists;
  second.arms = {"b"};
  second.ratios = {2, 4};
  second.clients = {8};
  std::vector<Row> expected = product(first);
  for (const Row& row : product(second)) {
    if (std::find(expected.begin(), expected.end(), row) == expected.end()) expected.push_back(row);
  }
  EXPECT_EQ(rows_of(load_text(text_of(kLists, matrix)).experiment), expected);
}

TEST(Cells, BlocksCanDefineAllFactorsThemselves) {
  const Experiment experiment =
      load_text(
          "name: t\n"
          "workloads: zipfian\n"
          "ratios: 2\n"
          "matrix:\n"
          "  - {arms: [{name: a}], pools: 64MiB, clients: 1}\n"
          "  - {arms: [a, {name: b, extends: a}], pools: 64MiB, clients: 2,"
          " placements: spread}\n")
          .experiment;
  ASSERT_EQ(experiment.cells.size(), 3u);
  EXPECT_EQ(experiment.cells[0].placement, "free");
  EXPECT_EQ(experiment.cells[2].arm, "b");
  EXPECT_EQ(experiment.cells[2].placement, "spread");
}

TEST(Cells, RegimesMultiplyAndCanBeExcluded) {
  const Experiment experiment =
      load_text(text_of({{"zipfian"}, {"a", "b"}, {64}, {2}, {1}},
                        "regimes: [resident, page-cache, real-io]\n"
                        "exclude: [{regime: real-io, arm: a}, {regime: resident, ratio: 2}]\n"))
          .experiment;
  ASSERT_EQ(experiment.cells.size(), 3u);
  EXPECT_EQ(experiment.cells[0].regime, Regime::kPageCache);
  EXPECT_EQ(experiment.cells[1].regime, Regime::kPageCache);
  EXPECT_EQ(experiment.cells[2].regime, Regime::kRealIo);
  EXPECT_EQ(experiment.cells[2].arm, "b");
}

TEST(Cells, HoldWorkingSetDividesByTheRatio) {
  const Experiment experiment = load_text(
                                    "name: t\narms: [{name: a}]\nworkloads: zipfian\n"
                                    "hold: working_set\nworking_sets: [1GiB, 4GiB]\n"
                                    "ratios: [1.15, 2, 3]\nclients: 1\n"
                                    "exclude: [{working_set: 4GiB, ratio: 2}]\n")
                                    .experiment;
  ASSERT_EQ(experiment.cells.size(), 5u);
  for (std::size_t index = 0; index < 5; ++index) {
    const FactorSet& cell = experiment.cells[index];
    const double working_set = index < 3 ? 1024.0 * 1024 * 1024 : 4096.0 * 1024 * 1024;
    EXPECT_EQ(cell.pool_bytes % 8192, 0u);
    EXPECT_NEAR(static_cast<double>(cell.pool_bytes) * cell.ratio, working_set, 4096 * cell.ratio);
    EXPECT_EQ(static_cast<double>(cell.working_set_bytes), working_set) << "one data set for all";
  }
}

TEST(Cells, PoolsAreWholePages) {
  const Experiment experiment =
      load_text(
          "name: t\narms: [{name: a}]\nworkloads: zipfian\npools: 63GB\nratios: 2\nclients: 1\n")
          .experiment;
  EXPECT_EQ(experiment.cells[0].pool_bytes, 63'000'000'000u / 8192 * 8192);
}

TEST(Cells, ValuesThatAreEqualOnThisHostMakeOneCell) {
  const Experiment experiment =
      load_text(
          "name: t\narms: [{name: a}]\nworkloads: zipfian\npools: [8GiB, 25% memory]\nratios: 2\n"
          "clients: [16, cpus, 2 * cores]\n")
          .experiment;
  EXPECT_EQ(experiment.cells.size(), 1u);
}

TEST(Cells, SmokeShrinksAndKeepsTheStructure) {
  ConfigOverrides overrides;
  overrides.smoke = true;
  Lists lists = kLists;
  lists.pools_mib = {64, 4};
  lists.clients = {1, 8, 16};
  const Experiment experiment =
      load_text(
          text_of(lists, "exclude: [{clients: 16, arm: a}]\nduration: 3 laps\nwarmup: 1min\n"),
          overrides)
          .experiment;
  Lists small = lists;
  small.pools_mib = {8, 4};
  small.clients = {1, 4};
  // The exclusion sees 16 clients as written; 8 clients keep the cells that both shrink to.
  EXPECT_EQ(rows_of(experiment), product(small));
  EXPECT_TRUE(experiment.smoke);
  EXPECT_EQ(experiment.runs, 1);
  EXPECT_EQ(experiment.duration.text(), "1s");
  EXPECT_EQ(experiment.warmup.text(), "1s");
}

TEST(Cells, RunsGivenWinOverSmoke) {
  ConfigOverrides overrides;
  overrides.smoke = true;
  overrides.runs = 2;
  EXPECT_EQ(load_text(text_of(kLists), overrides).experiment.runs, 2);
}

}  // namespace
}  // namespace numabench
