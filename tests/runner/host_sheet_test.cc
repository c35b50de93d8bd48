#include "runner/host_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/host_fitness.h"
#include "tests/hosts/error_of.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr std::uint64_t kGiB = 1ull << 30;

Host two_nodes() {
  return {"fake", Topology::of_synthetic("pack:2 [numa(memory=8GB)] core:2 pu:1"), {"db1", {}}};
}

Experiment experiment_with(const PlacementConfig& placement) {
  Experiment experiment;
  experiment.name = "e";
  experiment.placements = {placement};
  experiment.huge_pages = SharedRegion::HugePages::kOn;
  return experiment;
}

Plan plan_of(std::uint64_t pool_bytes, const std::string& placement) {
  Plan plan;
  PlannedCell& cell = plan.cells.emplace_back();
  cell.factors.placement = placement;
  cell.factors.pool_bytes = pool_bytes;
  cell.factors.clients = 24;
  return plan;
}

std::map<int, std::uint64_t> pool_of(const PlacementConfig& placement) {
  return needs_of(experiment_with(placement), two_nodes(), plan_of(2 * kGiB, placement.name))
      .pool_bytes_by_node;
}

TEST(HostNeeds, SharesThePoolAmongTheNodesItMayBeOn) {
  PlacementConfig placement;
  placement.name = "p";
  EXPECT_THAT(pool_of(placement), ElementsAre(Pair(0, kGiB + 1), Pair(1, kGiB + 1)));
  placement.roles["server"].cpus = {2, 3};
  EXPECT_THAT(pool_of(placement), ElementsAre(Pair(1, 2 * kGiB + 1))) << "first touch";
  placement.roles["server"].memory = MemoryPolicy::kBind;
  placement.roles["server"].memory_nodes = {0};
  EXPECT_THAT(pool_of(placement), ElementsAre(Pair(0, 2 * kGiB + 1)));
  placement.roles["server"].memory = MemoryPolicy::kInterleave;
  placement.roles["server"].memory_nodes = {0, 1};
  EXPECT_THAT(pool_of(placement), ElementsAre(Pair(0, kGiB + 1), Pair(1, kGiB + 1)));
}

TEST(HostNeeds, AreThoseOfTheLargestCell) {
  PlacementConfig placement;
  placement.name = "p";
  Experiment experiment = experiment_with(placement);
  experiment.host_settings = {{"dirty_bytes", "7"}};
  Plan plan = plan_of(2 * kGiB, "p");
  plan.cells.push_back(plan.cells.front());
  plan.cells.back().factors.pool_bytes = 4 * kGiB;
  plan.cells.back().factors.clients = 384;
  const HostNeeds needs = needs_of(experiment, two_nodes(), plan);
  EXPECT_EQ(needs.pool_bytes_by_node.at(0), 2 * kGiB + 1);
  EXPECT_EQ(needs.clients, 384);
  EXPECT_EQ(needs.huge_pages, HostNeeds::HugePages::kRequired);
  EXPECT_THAT(needs.settings, ElementsAre(Pair("dirty bytes", "7")));
}

HostCheck check(const std::string& name, Rating rating) {
  return {.name = name,
          .value = "1",
          .reason = "",
          .wanted = "0",
          .rating = rating,
          .why = "because",
          .how = "sysctl it"};
}

TEST(HostSheet, RefusesAnUnfitHostWhereThatIsEnforced) {
  const std::vector<HostCheck> sheet{check("numa balancing", Rating::kRed),
                                     check("swappiness", Rating::kWarn)};
  Experiment experiment;
  experiment.name = "metal";
  experiment.host_checks = HostChecks::kEnforce;
  const Error error = error_of([&] { require_fit_host(experiment, sheet, false); });
  EXPECT_EQ(exit_code(error.kind()), 3);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("numa balancing 1 (wanted: 0)"), HasSubstr("--force"),
                                  HasSubstr("--apply")));
  EXPECT_NO_THROW(require_fit_host(experiment, sheet, true));
  EXPECT_NO_THROW(require_fit_host(experiment, {sheet[1]}, false));
  experiment.host_checks = HostChecks::kWarn;
  EXPECT_NO_THROW(require_fit_host(experiment, sheet, false));
}

TEST(HostSheet, IsStoredWithTheHost) {
  const HostRecord record = to_record(two_nodes(), {check("numa balancing", Rating::kRed)});
  EXPECT_EQ(record.hostname, "db1");
  EXPECT_THAT(fitness_notes(read_host_fitness(record)),
              ElementsAre("not fit to publish: numa balancing: 1"));
}

TEST(HostSheet, WarnsWhenAResumedHostIsLessFit) {
  const HostRecord begun_on = to_record(two_nodes(), {check("numa balancing", Rating::kRed)});
  EXPECT_EQ(new_red_lines(begun_on, {check("numa balancing", Rating::kRed)}), "");
  EXPECT_THAT(new_red_lines(begun_on, {check("clocksource", Rating::kRed)}),
              HasSubstr("clocksource 1"));
}

}  // namespace
}  // namespace numabench
