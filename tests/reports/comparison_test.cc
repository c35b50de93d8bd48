// The truths here: the store's own view `median`, brute force over the raw runs, and the published
// figures of the second-chance series.
#include "reports/comparison.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "fabricated_store.h"
#include "hosts/error.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ComparisonOptions options_for(const FabricatedStore& fabricated,
                              std::vector<std::string> metrics = {"tps"}) {
  ComparisonOptions options;
  options.experiment_id = fabricated.experiment.id;
  options.metrics = std::move(metrics);
  return options;
}

std::vector<std::string> labels(const ComparisonTable& table) {
  std::vector<std::string> result;
  for (const ComparisonRow& row : table.rows) {
    result.push_back(fmt::format("{} {}{}", row.cell.ratio, row.cell.arm,
                                 row.side.empty() ? "" : " " + row.side));
  }
  return result;
}

std::vector<std::string> titles(const Comparison& comparison) {
  std::vector<std::string> result;
  for (const ComparisonTable& table : comparison.tables) result.push_back(table.title);
  return result;
}

template <typename Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "no error";
}

TEST(CompareArms, OrdersRowsByRatioThenTheBaselineThenTheExperimentsOrder) {
  FabricatedStore fabricated({"numa-only", "stock", "full-series"});
  fabricated.experiment.baseline_arm = "stock";
  for (const double ratio : {8.0, 1.15, 2.0}) {
    for (const char* arm : {"full-series", "numa-only", "stock"}) {
      fabricated.cell(arm, ratio);
      fabricated.runs_of("tps", {1, 2, 3});
    }
  }
  const Store store = fabricated.write();
  const Comparison comparison = compare_arms(store, options_for(fabricated));
  ASSERT_EQ(comparison.tables.size(), 1u);
  EXPECT_THAT(
      labels(comparison.tables[0]),
      ElementsAre("1.15 stock", "1.15 numa-only", "1.15 full-series", "2 stock", "2 numa-only",
                  "2 full-series", "8 stock", "8 numa-only", "8 full-series"));
  EXPECT_TRUE(comparison.tables[0].rows[0].is_baseline);
  EXPECT_FALSE(comparison.tables[0].rows[1].is_baseline);
}

TEST(CompareArms, MakesATableForEachCombinationInPlanOrder) {
  FabricatedStore fabricated({"stock"});
  for (const char* workload : {"uniform", "hotscan"}) {
    for (const int clients : {24, 1}) {
      CellRecord& cell = fabricated.cell("stock", 2);
      cell.workload = workload;
      cell.clients = clients;
      cell.group = fmt::format("{} {}", workload, clients);
    }
  }
  const Store store = fabricated.write();
  EXPECT_THAT(titles(compare_arms(store, options_for(fabricated))),
              ElementsAre("uniform · pool 512 MiB · 24 clients · placement free · regime none",
                          "uniform · pool 512 MiB · 1 client · placement free · regime none",
                          "hotscan · pool 512 MiB · 24 clients · placement free · regime none",
                          "hotscan · pool 512 MiB · 1 client · placement free · regime none"));
}

TEST(CompareArms, KeepsRatiosTogetherWhereTheWorkingSetIsHeldAndThePoolVaries) {
  FabricatedStore fabricated({"stock"});
  for (const double ratio : {0.8, 1.25, 2.0, 8.0}) {  // cooling-stage-uniform-r8i.csv: 63 GB held
    CellRecord& cell = fabricated.cell("stock", ratio);
    cell.pool_bytes = static_cast<std::uint64_t>(63e9 / ratio);
    // Rounded to rows and pages, never quite the same.
    cell.working_set_bytes = static_cast<std::uint64_t>(63e9 * (1 + ratio / 1000));
  }
  const Store store = fabricated.write();
  const Comparison comparison = compare_arms(store, options_for(fabricated));
  EXPECT_THAT(titles(comparison), ElementsAre(HasSubstr("working set 58.7 GiB")));
  EXPECT_THAT(labels(comparison.tables[0]),
              ElementsAre("0.8 stock", "1.25 stock", "2 stock", "8 stock"));
}

TEST(CompareArms, KeepsPoolsApartWhoseSizesReadAlike) {
  FabricatedStore fabricated({"stock"});
  for (const std::uint64_t extra : {0u, 8192u}) {
    for (const double ratio : {1.0, 2.0}) {
      CellRecord& cell = fabricated.cell("stock", ratio);
      cell.pool_bytes += extra;
      cell.group += fmt::format(" and pool {}", cell.pool_bytes);
    }
  }
  const Store store = fabricated.write();
  EXPECT_EQ(compare_arms(store, options_for(fabricated)).tables.size(), 2u);
}

TEST(CompareArms, AgreesWithTheStoresViewOfMedians) {
  FabricatedStore fabricated({"stock", "numa-only"});
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> any(0, 1e6);
  const auto any_status = [&] {
    const RunStatus statuses[] = {RunStatus::kOk, RunStatus::kOk, RunStatus::kFailed,
                                  RunStatus::kVoid};
    return statuses[random() % 4];
  };
  for (int ratio = 1; ratio <= 20; ++ratio) {
    for (const char* arm : {"stock", "numa-only"}) {
      fabricated.cell(arm, ratio);
      for (std::uint64_t run = random() % 6; run > 0; --run) {
        const RunStatus status = any_status();
        std::vector<MetricValue> values = {MetricValue::of("tps", any(random))};
        values.push_back(random() % 3 == 0 ? MetricValue::absent("tail", "no victim")
                                           : MetricValue::of("tail", any(random)));
        fabricated.run(std::move(values), status, status == RunStatus::kOk ? "" : "planted");
      }
    }
  }
  const Store store = fabricated.write();
  std::map<std::pair<std::int64_t, std::string>, MedianRecord> view;
  for (const MedianRecord& record : store.medians(fabricated.experiment.id)) {
    view[{record.cell_id, record.metric}] = record;
  }
  const Comparison comparison = compare_arms(store, options_for(fabricated, {"tps", "tail"}));
  std::size_t compared = 0;
  for (const ComparisonRow& row : comparison.tables.at(0).rows) {
    for (const ComparisonValue& value : row.values) {
      const MedianRecord& expected = view[{row.cell.id, value.metric}];
      ASSERT_EQ(value.summary.has_value(), expected.median.has_value());
      if (!value.summary) continue;
      EXPECT_EQ(value.summary->n, expected.runs);
      EXPECT_DOUBLE_EQ(value.summary->median, *expected.median);
      EXPECT_EQ(value.summary->minimum, *expected.minimum);
      EXPECT_EQ(value.summary->maximum, *expected.maximum);
      ++compared;
    }
  }
  EXPECT_GT(compared, 40u);
}

TEST(CompareArms, GivesThePercentagesOfThePublishedTable) {
  FabricatedStore fabricated({"stock", "numa-only", "full-series"});
  const std::map<std::string, double> published = {
      {"stock", 664155}, {"numa-only", 657125}, {"full-series", 660104}};
  for (const auto& [arm, tps] : published) {
    fabricated.cell(arm, 1.15);
    fabricated.runs_of("tps", {tps + 9000, tps, tps - 100});
  }
  const Store store = fabricated.write();
  const Comparison comparison = compare_arms(store, options_for(fabricated));
  const std::vector<ComparisonRow>& rows = comparison.tables.at(0).rows;
  EXPECT_FALSE(rows[0].find("tps")->percent_of_baseline);
  EXPECT_NEAR(*rows[1].find("tps")->percent_of_baseline, 98.94, 0.005);
  EXPECT_NEAR(*rows[2].find("tps")->percent_of_baseline, 99.39, 0.005);
}

TEST(CompareArms, TakesTheBaselineOfTheSameGroupAndOfTheArmAskedFor) {
  FabricatedStore fabricated({"stock", "numa-only"});
  for (const double ratio : {1.0, 2.0}) {
    fabricated.cell("stock", ratio);
    fabricated.runs_of("tps", {100 * ratio});
    fabricated.cell("numa-only", ratio);
    fabricated.runs_of("tps", {150});
  }
  const Store store = fabricated.write();
  ComparisonOptions options = options_for(fabricated);
  options.baseline_arm = "numa-only";
  const Comparison comparison = compare_arms(store, options);
  const std::vector<ComparisonRow>& rows = comparison.tables.at(0).rows;
  EXPECT_THAT(labels(comparison.tables[0]),
              ElementsAre("1 numa-only", "1 stock", "2 numa-only", "2 stock"));
  EXPECT_DOUBLE_EQ(*rows[1].find("tps")->percent_of_baseline, 100 * 100 / 150.0);
  EXPECT_DOUBLE_EQ(*rows[3].find("tps")->percent_of_baseline, 100 * 200 / 150.0);
}

TEST(CompareArms, RefersToABaselineThatIsNotSelected) {
  FabricatedStore fabricated({"stock", "numa-only"});
  fabricated.cell("stock", 1);
  fabricated.runs_of("tps", {200});
  fabricated.cell("numa-only", 1);
  fabricated.runs_of("tps", {100});
  const Store store = fabricated.write();
  ComparisonOptions options = options_for(fabricated);
  options.wanted = [](const CellRecord& cell) { return cell.arm == "numa-only"; };
  const Comparison comparison = compare_arms(store, options);
  ASSERT_EQ(comparison.tables.at(0).rows.size(), 1u);
  EXPECT_DOUBLE_EQ(*comparison.tables[0].rows[0].find("tps")->percent_of_baseline, 50);
}

TEST(CompareArms, HasNoPercentageOfNothing) {
  FabricatedStore fabricated({"stock", "numa-only", "full-series"});
  fabricated.cell("stock", 1);
  fabricated.run({MetricValue::of("tail", 0), MetricValue::absent("tps", "no clock")});
  fabricated.cell("numa-only", 1);
  fabricated.run({MetricValue::of("tail", 5), MetricValue::of("tps", 10)});
  fabricated.cell("full-series", 2);  // a ratio that the baseline was not run at
  fabricated.run({MetricValue::of("tail", 5), MetricValue::of("tps", 10)});
  const Store store = fabricated.write();
  const Comparison comparison = compare_arms(store, options_for(fabricated, {"tail", "tps"}));
  for (const ComparisonRow& row : comparison.tables.at(0).rows) {
    for (const ComparisonValue& value : row.values) EXPECT_FALSE(value.percent_of_baseline);
  }
}

TEST(CompareArms, AFailedCellIsARowInItsPlace) {
  FabricatedStore fabricated({"stock", "numa-only"});
  for (const double ratio : {1.0, 2.0}) {
    for (const char* arm : {"stock", "numa-only"}) {
      fabricated.cell(arm, ratio);
      if (ratio == 1.0 && std::string(arm) == "stock") {
        fabricated.run({MetricValue::of("tps", 9e9)}, RunStatus::kVoid, "mask of client 3");
        fabricated.run({}, RunStatus::kFailed, "killed by signal 9");
      } else {
        fabricated.runs_of("tps", {10, 20, 30});
      }
    }
  }
  const Store store = fabricated.write();
  const Comparison comparison = compare_arms(store, options_for(fabricated));
  const std::vector<ComparisonRow>& rows = comparison.tables.at(0).rows;
  EXPECT_THAT(labels(comparison.tables[0]),
              ElementsAre("1 stock", "1 numa-only", "2 stock", "2 numa-only"));
  EXPECT_EQ(rows[0].problem,
            "VOID: mask of client 3 (1 of 2); FAILED: killed by signal 9 (1 of 2)");
  EXPECT_EQ(rows[0].runs_ok, 0);
  EXPECT_EQ(rows[0].runs_total, 2);
  EXPECT_FALSE(rows[0].find("tps")->summary);
  EXPECT_EQ(rows[0].find("tps")->reason, rows[0].problem);
  EXPECT_FALSE(rows[1].find("tps")->percent_of_baseline);
  EXPECT_DOUBLE_EQ(*rows[3].find("tps")->percent_of_baseline, 100);
  EXPECT_THAT(comparison.notes, ElementsAre("cells without a run that counts: 1 of 4"));
}

TEST(CompareArms, TellsACellThatWasNotRunFromOneThatFailed) {
  FabricatedStore fabricated({"stock"});
  fabricated.cell("stock", 1);
  fabricated.cell("stock", 2);
  fabricated.run({}, RunStatus::kInterrupted, "Ctrl-C");
  const Store store = fabricated.write();
  const Comparison comparison = compare_arms(store, options_for(fabricated));
  EXPECT_EQ(comparison.tables.at(0).rows[0].problem, "NOT RUN");
  EXPECT_EQ(comparison.tables.at(0).rows[1].problem, "INTERRUPTED: Ctrl-C");
}

TEST(CompareArms, CountsTheRunsThatCountAndSaysWhyOthersDoNot) {
  FabricatedStore fabricated({"stock"});
  fabricated.cell("stock", 1);
  fabricated.runs_of("tps", {10, 30});
  fabricated.run({MetricValue::of("tps", 1e9)}, RunStatus::kVoid, "huge pages were not used");
  fabricated.run({MetricValue::of("tps", 1e9)}, RunStatus::kInterrupted, "Ctrl-C");
  const Store store = fabricated.write();
  const ComparisonRow row = compare_arms(store, options_for(fabricated)).tables.at(0).rows.at(0);
  EXPECT_EQ(row.runs_ok, 2);
  EXPECT_EQ(row.runs_total, 4);
  EXPECT_EQ(row.runs_planned, 4) << "with those that were added to the three of the plan";
  EXPECT_EQ(row.find("tps")->summary->maximum, 30);
  EXPECT_THAT(row.warnings, ElementsAre("1 of 4 runs left out: void: huge pages were not used"));
}

TEST(CompareArms, NamesEachReasonOfRunsThatWereLeftOutWithItsCount) {
  FabricatedStore fabricated({"stock"});
  const auto spoil = [&](RunStatus status, const char* reason) {
    fabricated.run({}, status, reason);
  };
  fabricated.cell("stock", 1);
  fabricated.runs_of("tps", {10, 30, 20});
  spoil(RunStatus::kVoid, "oom_kill: 1 process");
  spoil(RunStatus::kFailed, "pgbench died");
  spoil(RunStatus::kVoid, "oom_kill: 2 process");
  fabricated.cell("stock", 2);
  spoil(RunStatus::kVoid, "swap_used: 7");
  spoil(RunStatus::kVoid, "swap_used: 9");
  fabricated.cell("stock", 3);
  spoil(RunStatus::kVoid, "swap_used: 7");
  spoil(RunStatus::kFailed, "pgbench died");
  spoil(RunStatus::kInterrupted, "Ctrl-C");
  const Store store = fabricated.write();
  const auto rows = compare_arms(store, options_for(fabricated)).tables.at(0).rows;
  EXPECT_THAT(rows.at(0).warnings, ElementsAre("2 of 6 runs left out: void: oom_kill: 1 process",
                                               "1 of 6 runs left out: failed: pgbench died"));
  EXPECT_EQ(rows.at(1).problem, "VOID: swap_used: 7");
  EXPECT_EQ(rows.at(2).problem, "VOID: swap_used: 7 (1 of 3); FAILED: pgbench died (1 of 3)");
}

TEST(CompareArms, KeepsTheReasonOfAMissingValue) {
  FabricatedStore fabricated({"stock"});
  fabricated.cell("stock", 1);
  fabricated.run({MetricValue::absent("tps", "no point clients")});
  const Store store = fabricated.write();
  const ComparisonRow row =
      compare_arms(store, options_for(fabricated, {"tps", "tail"})).tables.at(0).rows.at(0);
  EXPECT_TRUE(row.problem.empty());
  EXPECT_EQ(row.find("tps")->reason, "no point clients");
  EXPECT_EQ(row.find("tail")->reason, "not recorded");
}

TEST(CompareArms, CollectsWarningsOncePerRowWhateverTheirNumbers) {
  FabricatedStore fabricated({"stock", "numa-only"});
  const auto warn = [](RunRecord& run, const char* text) {
    run.events.push_back({"warning", text});
    run.events.push_back({"info", "nothing to worry about"});
  };
  fabricated.cell("stock", 1);
  warn(fabricated.run({MetricValue::of("tps", 1)}), "2.4 laps: fewer than three");
  warn(fabricated.run({MetricValue::of("tps", 1)}), "2.51 laps: fewer than three");
  warn(fabricated.run({}, RunStatus::kFailed, "died"), "of a run that does not count");
  fabricated.cell("numa-only", 1);
  fabricated.run({MetricValue::of("tps", 1)});
  const Store store = fabricated.write();
  const Comparison comparison = compare_arms(store, options_for(fabricated));
  EXPECT_THAT(comparison.tables.at(0).rows[0].warnings,
              ElementsAre("2.4 laps: fewer than three", "1 of 3 runs left out: failed: died"));
  EXPECT_THAT(comparison.tables[0].rows[1].warnings, IsEmpty());
  EXPECT_THAT(comparison.notes, IsEmpty());
}

TEST(CompareArms, AWarningOfEveryCellIsANote) {
  FabricatedStore fabricated({"stock", "numa-only", "full-series"});
  for (const char* arm : {"stock", "numa-only"}) {
    fabricated.cell(arm, 1);
    fabricated.run({MetricValue::of("tps", 1)}).events.push_back({"warning", "one node"});
  }
  fabricated.cell("full-series", 1);
  fabricated.run({}, RunStatus::kFailed, "died");
  const Store store = fabricated.write();
  const Comparison comparison = compare_arms(store, options_for(fabricated));
  EXPECT_THAT(comparison.notes, Contains("every cell: one node"));
  EXPECT_THAT(comparison.tables.at(0).rows[0].warnings, IsEmpty());
  EXPECT_THAT(comparison.tables[0].rows[1].warnings, IsEmpty());
}

TEST(CompareArms, MarksASmokeRun) {
  FabricatedStore fabricated({"stock"});
  fabricated.experiment.smoke = true;
  fabricated.cell("stock", 1);
  fabricated.runs_of("tps", {1});
  const Store store = fabricated.write();
  EXPECT_THAT(compare_arms(store, options_for(fabricated)).notes,
              ElementsAre("smoke run: not comparable, not fit to publish"));
}

TEST(CompareArms, RefusesWhatDoesNotExist) {
  FabricatedStore fabricated({"stock", "numa-only"});
  fabricated.cell("stock", 1);
  const Store store = fabricated.write();
  ComparisonOptions options = options_for(fabricated);

  options.experiment_id = 17;
  EXPECT_THAT(error_of([&] { compare_arms(store, options); }),
              AllOf(HasSubstr("no experiment 17"), HasSubstr("1 (fabricated)")));
  options = options_for(fabricated, {"tsp"});
  EXPECT_THAT(error_of([&] { compare_arms(store, options); }),
              AllOf(HasSubstr("unknown metric 'tsp'"), HasSubstr("'tps'")));
  options = options_for(fabricated);
  options.baseline_arm = "numaonly";
  EXPECT_THAT(error_of([&] { compare_arms(store, options); }),
              AllOf(HasSubstr("no arm 'numaonly'"), HasSubstr("'numa-only'")));
  options = options_for(fabricated);
  options.wanted = [](const CellRecord&) { return false; };
  EXPECT_THAT(error_of([&] { compare_arms(store, options); }), HasSubstr("selected"));
}

TEST(CompareArms, PercentagesAreThoseOfBruteForce) {
  std::mt19937_64 random(11);
  const std::vector<std::string> arms = {"stock", "numa-only", "full-series"};
  std::map<std::string, std::vector<double>> raw;
  FabricatedStore fabricated(arms);
  for (int ratio = 1; ratio <= 10; ++ratio) {
    for (const std::string& arm : arms) {
      fabricated.cell(arm, ratio);
      std::vector<double>& values = raw[fmt::format("{} {}", ratio, arm)];
      for (int run = 0; run < 3; ++run) values.push_back(1 + static_cast<double>(random() % 1000));
      fabricated.runs_of("tps", values);
    }
  }
  const Store store = fabricated.write();
  const Comparison comparison = compare_arms(store, options_for(fabricated));
  const auto middle = [&](const std::string& key) {
    std::vector<double> values = raw.at(key);
    std::sort(values.begin(), values.end());
    return values[1];
  };
  ASSERT_EQ(comparison.tables.at(0).rows.size(), 30u);
  for (const ComparisonRow& row : comparison.tables[0].rows) {
    if (row.is_baseline) continue;
    const double own = middle(fmt::format("{} {}", row.cell.ratio, row.cell.arm));
    const double baseline = middle(fmt::format("{} stock", row.cell.ratio));
    EXPECT_NEAR(*row.find("tps")->percent_of_baseline, 100 * own / baseline, 1e-9);
  }
}

/// Two experiments with the same arms and other numbers.
class CompareExperiments : public testing::Test {
 protected:
  CompareExperiments() : before_({"stock", "numa-only"}), after_({"stock", "numa-only"}) {
    before_.experiment.name = "monday";
    after_.experiment.name = "tuesday";
    for (const double ratio : {1.0, 2.0}) {
      for (const char* arm : {"stock", "numa-only"}) {
        before_.cell(arm, ratio);
        before_.runs_of("tps", {100, 110, 120});
        after_.cell(arm, ratio).hash.front() = 'e';  // the arm changed, and with it the hash
        after_.runs_of("tps", {121, 122, 123});
      }
    }
  }
  Comparison compare() {
    const Store before = before_.write();
    const Store after = after_.write();
    return compare_experiments(before, options_for(before_), after, options_for(after_));
  }
  FabricatedStore before_;
  FabricatedStore after_;
};

TEST_F(CompareExperiments, PutsEachCellBelowItsPredecessor) {
  const Comparison comparison = compare();
  EXPECT_EQ(comparison.baseline_arm, "before");
  EXPECT_EQ(comparison.experiment.name, "tuesday");
  EXPECT_EQ(comparison.before->name, "monday");
  ASSERT_EQ(comparison.tables.size(), 1u);
  EXPECT_THAT(
      labels(comparison.tables[0]),
      ElementsAre("1 stock before", "1 stock after", "1 numa-only before", "1 numa-only after",
                  "2 stock before", "2 stock after", "2 numa-only before", "2 numa-only after"));
  const std::vector<ComparisonRow>& rows = comparison.tables[0].rows;
  EXPECT_TRUE(rows[0].is_baseline);
  EXPECT_EQ(rows[0].find("tps")->summary->median, 110);
  EXPECT_EQ(rows[1].find("tps")->summary->median, 122);
  EXPECT_DOUBLE_EQ(*rows[1].find("tps")->percent_of_baseline, 100 * 122 / 110.0);
  EXPECT_THAT(comparison.notes, IsEmpty());
}

TEST_F(CompareExperiments, SaysWhatElseDiffers) {
  after_.host.hostname = "m7gd";
  after_.experiment.seed = 43;
  before_.cell("stock", 8);
  EXPECT_THAT(compare().notes,
              ElementsAre("the host differs: z1d before, m7gd after",
                          "the seed differs: 42 before, 43 after",
                          "cells left out, without a counterpart in the other experiment: 1"));
}

TEST_F(CompareExperiments, RefusesToMixSmokeRunsWithOthers) {
  before_.experiment.smoke = true;
  EXPECT_THAT(error_of([&] { compare(); }),
              HasSubstr("experiment 'monday' is a smoke run and 'tuesday' is not"));
  after_.experiment.smoke = true;
  EXPECT_THAT(compare().notes, ElementsAre("smoke run: not comparable, not fit to publish"));
}

TEST(CompareExperimentsWithoutCommonCells, IsRefused) {
  FabricatedStore before({"stock"});
  FabricatedStore after({"stock"});
  before.cell("stock", 1);
  after.cell("stock", 1).workload_parameters = "s=0.99";
  const Store old_store = before.write();
  const Store new_store = after.write();
  EXPECT_THAT(error_of([&] {
                compare_experiments(old_store, options_for(before), new_store, options_for(after));
              }),
              HasSubstr("have no cell in common"));
}

}  // namespace
}  // namespace numabench
