#include "runner/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "fake_engine.h"
#include "runner/plan_selection.h"
#include "tests/hosts/contradicting_host.h"
#include "tests/hosts/error_of.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PlanTest : public ::testing::Test {
 protected:
  Plan make() { return make_plan(experiment, host, engine); }

  FakeClock clock;
  FakeEngine engine{clock};
  Experiment experiment = small_experiment();
  Host host = small_host();
};

TEST_F(PlanTest, EveryCellRunsAsOftenAsAskedAndNoMore) {
  const Plan plan = make();
  std::map<std::pair<std::size_t, int>, int> seen;
  for (const PlannedRun& run : plan.runs) ++seen[{run.cell, run.repetition}];
  EXPECT_EQ(plan.runs.size(), 16u);
  EXPECT_EQ(seen.size(), 16u);
  for (const auto& [key, count] : seen)
    EXPECT_TRUE(key.second >= 1 && key.second <= 2 && count == 1);
}

TEST_F(PlanTest, ABlockHoldsEachArmOfOneGroupOnce) {
  const Plan plan = make();
  std::map<int, std::set<std::string>> arms;
  std::map<int, std::set<std::string>> groups;
  std::map<int, std::set<std::uint64_t>> seeds;
  for (const PlannedRun& run : plan.runs) {
    arms[run.block].insert(plan.cells[run.cell].factors.arm);
    groups[run.block].insert(plan.cells[run.cell].group);
    seeds[run.block].insert(run.seed);
  }
  EXPECT_EQ(arms.size(), 8u);
  std::set<std::uint64_t> distinct;
  for (const auto& [block, names] : arms) {
    EXPECT_EQ(names.size(), 2u);
    EXPECT_EQ(groups[block].size(), 1u);
    ASSERT_EQ(seeds[block].size(), 1u) << "all arms of a block get the same page strings";
    distinct.insert(*seeds[block].begin());
  }
  EXPECT_EQ(distinct.size(), 8u) << "repetitions and groups get different ones";
}

TEST_F(PlanTest, NoArmIsAlwaysFirst) {
  const Plan plan = make();
  std::map<std::string, std::set<std::string>> first_by_group;
  for (const PlannedRun& run : plan.runs) {
    if (run.block_position == 0) {
      first_by_group[plan.cells[run.cell].group].insert(plan.cells[run.cell].factors.arm);
    }
  }
  for (const auto& [group, arms] : first_by_group) EXPECT_EQ(arms.size(), 2u);
}

/// The arms of a group in the order of each repetition: "ABC", "BCA", …
std::vector<std::string> turns(const Experiment& experiment, const Plan& plan) {
  std::map<int, std::string> turns;
  const std::string group = plan.cells[plan.runs.front().cell].group;
  for (const PlannedRun& run : plan.runs) {
    if (plan.cells[run.cell].group != group || run.is_drift_control()) continue;
    const auto arm =
        std::ranges::find(experiment.arms, plan.cells[run.cell].factors.arm, &Arm::name);
    turns[run.repetition] += static_cast<char>('A' + (arm - experiment.arms.begin()));
  }
  std::vector<std::string> texts;
  for (const auto& [repetition, text] : turns) texts.push_back(text);
  return texts;
}

Experiment three_arms() {
  Experiment experiment = small_experiment();
  experiment.arms.push_back({"third", "", {}});
  experiment.arms[2].policy.bound = 4;
  for (const double ratio : {1.15, 2.0}) {
    experiment.cells.push_back({"third", "zipfian", Regime::kNone, "free", 8 << 20, ratio, 4});
  }
  return experiment;
}

TEST_F(PlanTest, RepetitionsAreTheRowsOfALatinSquare) {
  experiment = three_arms();
  experiment.runs = 3;
  const std::vector<std::string> rows = turns(experiment, make());
  ASSERT_EQ(rows.size(), 3u);
  for (std::size_t place = 0; place < 3; ++place) {
    std::set<char> arms;
    for (const std::string& row : rows) arms.insert(row[place]);
    EXPECT_EQ(arms.size(), 3u) << "each arm once in each place";
  }
}

TEST_F(PlanTest, PairsGoForthAndBack) {
  experiment = three_arms();
  experiment.runs = 4;
  experiment.pairs_abba = true;
  const std::vector<std::string> rows = turns(experiment, make());
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    EXPECT_EQ(rows[i + 1], std::string(rows[i].rbegin(), rows[i].rend()));
  }
  EXPECT_TRUE(rows[0] == "ABC" || rows[0] == "CBA") << rows[0];
}

TEST_F(PlanTest, ASteadyDriftIsTheSameForAllArmsOfPairsAndNotInConfigOrder) {
  experiment = three_arms();
  experiment.runs = 4;
  const auto times = [&](const Plan& plan) {
    std::map<std::string, double> sum;
    for (std::size_t i = 0; i < plan.runs.size(); ++i) {
      const FactorSet& factors = plan.cells[plan.runs[i].cell].factors;
      if (factors.workload == "zipfian" && factors.ratio < 2) {
        sum[factors.arm] += static_cast<double>(i);
      }
    }
    return sum;
  };
  experiment.pairs_abba = true;
  const auto paired = times(make());
  EXPECT_EQ(paired.at("stock"), paired.at("bounded"));
  EXPECT_EQ(paired.at("stock"), paired.at("third"));
  experiment.pairs_abba = false;
  experiment.order = RunOrder::kConfig;
  const auto written = times(make());
  EXPECT_LT(written.at("stock"), written.at("bounded"));
  EXPECT_LT(written.at("bounded"), written.at("third"));
}

TEST_F(PlanTest, ConfigOrderTakesCellByCellAndRandomOrderFollowsTheSeed) {
  const auto order = [&] {
    std::vector<std::pair<std::size_t, int>> runs;
    for (const PlannedRun& run : make().runs) runs.emplace_back(run.cell, run.repetition);
    return runs;
  };
  const auto blocked = order();
  experiment.order = RunOrder::kConfig;
  const auto written = order();
  EXPECT_TRUE(std::ranges::is_sorted(written));
  experiment.order = RunOrder::kRandom;
  auto shuffled = order();
  EXPECT_EQ(shuffled, order());
  EXPECT_NE(shuffled, written);
  EXPECT_NE(shuffled, blocked);
  experiment.seed = 43;
  EXPECT_NE(shuffled, order());
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, written) << "the same runs";
}

TEST_F(PlanTest, EachOrderGivesARunTheSeedOfItsBlockAndItsPlaceInIt) {
  std::map<std::pair<std::size_t, int>, std::uint64_t> seeds;
  for (const PlannedRun& run : make().runs) seeds[{run.cell, run.repetition}] = run.seed;
  for (const RunOrder order : {RunOrder::kConfig, RunOrder::kRandom}) {
    experiment.order = order;
    std::map<int, std::vector<int>> positions;
    for (const PlannedRun& run : make().runs) {
      EXPECT_EQ(run.seed, (seeds[{run.cell, run.repetition}]));
      positions[run.block].push_back(run.block_position);
    }
    EXPECT_EQ(positions.size(), 8u);
    for (const auto& [block, places] : positions) EXPECT_EQ(places, (std::vector<int>{0, 1}));
  }
}

TEST_F(PlanTest, TheFirstRunComesOnceMoreAtTheEnd) {
  experiment.drift_control = true;
  const Plan plan = make();
  ASSERT_EQ(plan.runs.size(), 17u);
  EXPECT_EQ(plan.runs.back().cell, plan.runs.front().cell);
  EXPECT_EQ(plan.runs.back().seed, plan.runs.front().seed);
  EXPECT_TRUE(plan.runs.back().is_drift_control());
  EXPECT_EQ(std::ranges::count_if(plan.runs, &PlannedRun::is_drift_control), 1);
  const Plan part = select_cells(experiment, plan, make_selector("", "workload=uniform"));
  EXPECT_EQ(part.runs.size(), 9u);
  EXPECT_EQ(part.runs.back().cell, part.runs.front().cell) << "the first of what was selected";
  EXPECT_TRUE(part.runs.back().is_drift_control());
}

TEST_F(PlanTest, ASingleRunIsNotRepeated) {
  experiment.drift_control = true;
  experiment.runs = 1;
  experiment.cells = {experiment.cells[0]};
  EXPECT_EQ(make().runs.size(), 1u);
}

TEST_F(PlanTest, TheSamePlanComesOutTwice) {
  const Plan one = make();
  const Plan two = make();
  ASSERT_EQ(one.runs.size(), two.runs.size());
  for (std::size_t i = 0; i < one.runs.size(); ++i) {
    EXPECT_EQ(one.runs[i].cell, two.runs[i].cell);
    EXPECT_EQ(one.runs[i].seed, two.runs[i].seed);
  }
}

TEST_F(PlanTest, HashesChangeWithEveryInput) {
  std::set<std::string> hashes;
  const auto first_hash = [&] { return make().cells[0].hash; };
  hashes.insert(first_hash());
  const std::vector<std::function<void(Experiment&)>> changes = {
      [](Experiment& e) { e.arms[0].policy.bound = 4; },
      [](Experiment& e) { e.workloads[0].parameters["s"] = "1.2"; },
      [](Experiment& e) { e.cells[0].clients = 5; },
      [](Experiment& e) { e.cells[0].ratio = 1.5; },
      [](Experiment& e) { e.cells[0].pool_bytes *= 2; },
      [](Experiment& e) { e.placements[0].spreads["clients"] = Spread::kNodes; },
      [](Experiment& e) { e.cells[0].regime = Regime::kPageCache; },
      [](Experiment& e) { e.fill_cycles = 0; },
      [](Experiment& e) { e.duration.amount = 3; },
      [](Experiment& e) { e.warmup.unit = Span::Unit::kLaps; },
      [](Experiment& e) { e.seed = 43; },
      [](Experiment& e) { e.smoke = true; },
      [](Experiment& e) { e.arms[0].settings["jit"] = "off"; },
      [](Experiment& e) { e.settings["jit"] = "off"; },
      [](Experiment& e) { e.pgbench.protocol = PgbenchOptions::Protocol::kSimple; },
      [](Experiment& e) { e.counters = Counters::kNone; },
      [](Experiment& e) { e.require_full_pool = true; },
  };
  for (const auto& change : changes) {
    experiment = small_experiment();
    change(experiment);
    hashes.insert(first_hash());
  }
  EXPECT_EQ(hashes.size(), changes.size() + 1);
}

TEST_F(PlanTest, TwoArmsThatAreTheSameHaveCellsOfTheirOwn) {
  experiment.arms[1].policy = experiment.arms[0].policy;
  std::set<std::string> hashes;
  for (const PlannedCell& cell : make().cells) hashes.insert(cell.hash);
  EXPECT_EQ(hashes.size(), experiment.cells.size());
}

TEST_F(PlanTest, DataThatAreKeptAddUpAndAreMadeOnce) {
  Plan plan = make();
  const double seconds = plan.estimated_seconds;
  for (PlannedCell& cell : plan.cells) {
    cell.estimate.dataset = cell.factors.ratio > 1.5 ? "large" : "small";
    cell.estimate.disk_bytes = cell.factors.ratio > 1.5 ? 2000 : 1000;
    cell.estimate.run_disk_bytes = 100;
    cell.estimate.dataset_seconds = 10;
  }
  add_up(experiment, plan);
  EXPECT_EQ(plan.peak_disk_bytes, 3100u);
  EXPECT_DOUBLE_EQ(plan.estimated_seconds, seconds + 20);
}

TEST_F(PlanTest, HashesDoNotDependOnTheOtherCells) {
  const std::string before = make().cells[3].hash;
  experiment.cells = {experiment.cells[3]};
  EXPECT_EQ(make().cells[0].hash, before);
}

TEST_F(PlanTest, TheGroupIsTheCellWithoutItsArm) {
  const Plan plan = make();
  EXPECT_EQ(plan.cells[0].group, plan.cells[4].group);
  EXPECT_NE(plan.cells[0].hash, plan.cells[4].hash);
  EXPECT_NE(plan.cells[0].group, plan.cells[1].group);
}

TEST_F(PlanTest, AddsUpTimeAndTakesPeaksOfMemoryAndDisk) {
  experiment.cells[2].pool_bytes = 64 << 20;
  const Plan plan = make();
  EXPECT_DOUBLE_EQ(plan.estimated_seconds, 16 * (0.5 + 1.0 + 2.5));
  EXPECT_EQ(plan.peak_memory_bytes, std::uint64_t{64} << 20);
  EXPECT_EQ(plan.peak_disk_bytes, std::uint64_t{7} * (64 << 20));
}

TEST_F(PlanTest, RefusesACellThatTheEngineCannotServe) {
  engine.refused_arm = "bounded";
  try {
    make();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("arm 'bounded' with workload 'zipfian'"));
  }
}

TEST_F(PlanTest, PlacementsAreDescribedRoleByRole) {
  PlacementConfig placement{.name = "apart", .spreads = {}, .roles = {}};
  placement.roles["server"] = {{0, 1}, MemoryPolicy::kBind, {0}};
  placement.roles["clients"] = {{2, 3}, MemoryPolicy::kDefault, {}};
  placement.spreads["clients"] = Spread::kSmtLast;
  EXPECT_EQ(describe_placement(placement),
            "apart: clients cpus 2-3; server cpus 0-1, bind 0; clients spread: smt-last");
}

TEST_F(PlanTest, RefusesAPlacementTheHostDoesNotHaveBeforeAnyRun) {
  experiment.placements = {{"far", {}, {{"clients", {{64}, MemoryPolicy::kDefault, {}}}}}};
  for (FactorSet& cell : experiment.cells) cell.placement = "far";
  try {
    make();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
    EXPECT_THAT(error.what(), HasSubstr("placement 'far', role clients"));
    EXPECT_THAT(error.what(), HasSubstr("64"));
  }
}

TEST_F(PlanTest, SelectingKeepsOrderAndSeedsOfWhatIsLeft) {
  const Plan plan = make();
  const Plan part = select_cells(experiment, plan, make_selector("", "workload=uniform,ratio>=2"));
  EXPECT_EQ(part.cells.size(), 2u);
  ASSERT_EQ(part.runs.size(), 4u);
  EXPECT_DOUBLE_EQ(part.estimated_seconds, 16);
  std::size_t at = 0;
  for (const PlannedRun& run : plan.runs) {
    if (plan.cells[run.cell].factors.workload != "uniform" ||
        plan.cells[run.cell].factors.ratio < 2) {
      continue;
    }
    EXPECT_EQ(part.cells[part.runs[at].cell].hash, plan.cells[run.cell].hash);
    EXPECT_EQ(part.runs[at].seed, run.seed);
    ++at;
  }
  EXPECT_EQ(at, 4u);
}

TEST_F(PlanTest, SelectingNothingIsAnError) {
  EXPECT_THROW(select_cells(experiment, make(), make_selector("no such arm", "")), Error);
}

/// Two of three arms and one of two placements go by nodes: 2 of 12 cells do not.
Experiment experiment_by_nodes() {
  Experiment experiment = small_experiment();
  experiment.arms.push_back({"by-node", "", {}});
  experiment.arms[1].policy.partitions = 0;
  experiment.arms[2].policy.buffers_by_node = true;
  experiment.placements.push_back(
      {.name = "apart", .spreads = {}, .roles = {}, .refusal = "no placement by nodes"});
  experiment.cells.clear();
  for (const Arm& arm : experiment.arms) {
    for (const PlacementConfig& placement : experiment.placements) {
      for (const double ratio : {1.15, 2.0}) {
        experiment.cells.push_back(
            {arm.name, "zipfian", Regime::kNone, placement.name, 8 << 20, ratio, 4});
      }
    }
  }
  return experiment;
}

TEST_F(PlanTest, WhereNodesContradictEachOtherTheCellsThatGoByNoneAreLeft) {
  experiment = experiment_by_nodes();
  host.topology = contradicting_host();
  const Plan plan = make();
  ASSERT_EQ(plan.cells.size(), 2u);
  for (const PlannedCell& cell : plan.cells) {
    EXPECT_EQ(cell.factors.arm + " " + cell.factors.placement, "stock free");
  }
  EXPECT_EQ(plan.runs.size(), 4u);
  EXPECT_THAT(
      describe_left_out(plan),
      ElementsAre(AllOf(HasSubstr("2 of 12 cells are left out, arm 'bounded': it goes by nodes"),
                        HasSubstr("nodes 0-1 share CPUs")),
                  HasSubstr("2 of 12 cells are left out, arm 'by-node'"),
                  "6 of 12 cells are left out, placement 'apart': no placement by nodes"));
  const Plan selected =
      select_cells(experiment, plan, [](const CellRecord& cell) { return cell.ratio > 1.5; });
  EXPECT_EQ(selected.cells.size(), 1u);
  EXPECT_EQ(selected.left_out.size(), 10u);
}

TEST_F(PlanTest, WhereNodesCanBeTrustedNoCellIsLeftOut) {
  experiment = experiment_by_nodes();
  experiment.placements[1].refusal.clear();
  const Plan plan = make();
  EXPECT_EQ(plan.cells.size(), 12u);
  EXPECT_TRUE(describe_left_out(plan).empty());
}

TEST_F(PlanTest, AnExperimentOfWhichNothingIsLeftIsRefusedWithTheReason) {
  experiment = experiment_by_nodes();
  host.topology = contradicting_host();
  std::erase_if(experiment.cells, [](const FactorSet& cell) { return cell.arm == "stock"; });
  const Error error = error_of([&] { make(); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("this host can run no cell: 2 of 8 cells"));
  EXPECT_THAT(error.what(), HasSubstr("placements=[free]"));
}

}  // namespace
}  // namespace numabench
