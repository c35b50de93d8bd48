// Verdicts of stored experiments: which runs make a pair, what they are held against, and that the
// store's view says the same of the pairs.
#include "reports/verdicts.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fabricated_store.h"
#include "reports/formats/format.h"
#include "reports/noise_report.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RunRecord run_of(int repetition, double tps, RunStatus status = RunStatus::kOk) {
  RunRecord run;
  run.repetition = repetition;
  run.status = status;
  run.values = {MetricValue::of("tps", tps)};
  return run;
}

TEST(PairedLogRatios, PairRunsOfOneRepetitionThatBothCount) {
  const std::vector<RunRecord> baseline = {run_of(1, 100), run_of(2, 110), run_of(3, 120),
                                           run_of(4, 90, RunStatus::kVoid)};
  const std::vector<RunRecord> arm = {run_of(3, 240), run_of(1, 100), run_of(4, 1),
                                      run_of(2, 7, RunStatus::kFailed)};
  EXPECT_THAT(paired_log_ratios(arm, baseline, "tps"),
              ElementsAre(DoubleNear(std::log(2), 1e-12), 0));
  EXPECT_THAT(paired_log_ratios({run_of(1, 0)}, baseline, "tps"), IsEmpty()) << "no ratio";
  EXPECT_THAT(paired_log_ratios(arm, baseline, "tail"), IsEmpty());
}

TEST(PairedEvidence, CountsTheRoundsOfAddedRunsThatFollowedAPossibleVerdict) {
  std::vector<RunRecord> runs;
  for (int repetition = 1; repetition <= 12; ++repetition) {
    runs.push_back(run_of(repetition, 100));
    runs.back().addition = repetition <= 3 ? 0 : repetition <= 8 ? 1 : 2;
  }
  EXPECT_EQ(paired_evidence(runs, runs, "tps")->earlier_looks, 1)
      << "the first round followed three runs, which cannot carry a verdict";
}

/// Two ratios; `effect` of numa-only at the second, where the copy is `bias` beside stock.
class Experiment : public ::testing::Test {
 protected:
  Experiment() : fabricated_({"stock", "stock-aa", "numa-only"}) {
    fabricated_.arm("stock-aa").copy_of = "stock";
  }
  void fill(int runs, double effect, double bias) {
    std::mt19937_64 random(9);
    std::normal_distribution<double> noise(0, 0.004);
    for (const double ratio : {1.0, 2.0}) {
      const bool second = ratio == 2;
      add("stock", ratio, runs, [&] { return 1000 * std::exp(noise(random)); });
      add("stock-aa", ratio, runs,
          [&] { return 1000 * std::exp(noise(random)) * (second ? bias : 1); });
      add("numa-only", ratio, runs,
          [&] { return 1000 * std::exp(noise(random)) * (second ? effect : 1); });
    }
  }
  template <typename Draw>
  void add(const char* arm, double ratio, int runs, Draw draw) {
    fabricated_.cell(arm, ratio);
    for (int i = 0; i < runs; ++i) fabricated_.run({MetricValue::of("tps", draw())});
  }
  Comparison compare(const Store& store) {
    ComparisonOptions options;
    options.experiment_id = fabricated_.experiment.id;
    options.metrics = {"tps"};
    return compare_arms(store, options);
  }
  static std::string verdict(const Comparison& comparison, std::size_t row) {
    return comparison.tables.at(0).rows.at(row).find("tps")->judgement->verdict.text();
  }

  FabricatedStore fabricated_;
};

TEST_F(Experiment, HasAVerdictInEachCellButThoseOfTheBaselineAndItsCopy) {
  fill(9, 0.97, 1);
  const Store store = fabricated_.write();
  const Comparison comparison = compare(store);
  const std::vector<ComparisonRow>& rows = comparison.tables.at(0).rows;
  ASSERT_EQ(rows[1].cell.arm, "stock-aa");
  EXPECT_TRUE(rows[1].is_copy);
  EXPECT_FALSE(rows[0].find("tps")->judgement);
  EXPECT_THAT(verdict(comparison, 2), HasSubstr("no difference beyond"));
  EXPECT_EQ(verdict(comparison, 5), "worse");
  ASSERT_EQ(comparison.noise.size(), 1u);
  EXPECT_EQ(comparison.noise[0].noise.pairs, 18);
  EXPECT_NEAR(comparison.noise[0].noise.of_pair, 0.004 * std::sqrt(2), 0.002);
  EXPECT_THAT(format_noise(store, fabricated_.experiment.id), HasSubstr("9 runs show"));
  EXPECT_THAT(format_noise(store, fabricated_.experiment.id), HasSubstr("all"));
}

TEST_F(Experiment, IsHeldAgainstWhatTheCopyOfTheSameCellDiffersBy) {
  fill(9, 0.97, 1.05);
  const Store store = fabricated_.write();
  const Comparison comparison = compare(store);
  EXPECT_THAT(verdict(comparison, 5), HasSubstr("within the noise floor of ±"));
  EXPECT_THAT(verdict(comparison, 2), HasSubstr("no difference beyond"));
}

TEST_F(Experiment, WithThreeRunsShowsNumbersAndNoVerdict) {
  fill(3, 0.5, 1);
  const Store store = fabricated_.write();
  const Comparison comparison = compare(store);
  EXPECT_EQ(verdict(comparison, 5), "inconclusive: 3 pairs, 6 needed");
  const std::string text = find_report_format("terminal").render(comparison, {});
  EXPECT_THAT(text, AllOf(HasSubstr("inconclusive [1]"), HasSubstr("A/A ±"),
                          HasSubstr("[1] inconclusive: 3 pairs, 6 needed"),
                          HasSubstr("tps: 2 inconclusive"), HasSubstr("held to the noise floor")));
}

TEST_F(Experiment, HasThePairsThatTheStoresViewHas) {
  fill(5, 1.1, 1);
  fabricated_.run({MetricValue::of("tps", 3)}, RunStatus::kVoid, "planted");
  const Store store = fabricated_.write();
  const ExperimentData data = read_experiment(store, fabricated_.experiment.id);
  SQLite::Database database(store.path());
  for (const CellRecord& cell : data.cells) {
    if (cell.arm == "stock") continue;
    SQLite::Statement row(database,
                          "SELECT ratio FROM paired_ratio WHERE cell_id = ? AND metric = 'tps' "
                          "ORDER BY repetition");
    row.bind(1, cell.id);
    for (const double log_ratio : paired_log_ratios(
             data.runs_of(cell), data.runs_of(*data.find_cell(cell.group, "stock")), "tps")) {
      ASSERT_TRUE(row.executeStep());
      EXPECT_NEAR(row.getColumn(0).getDouble(), std::exp(log_ratio), 1e-12);
    }
    EXPECT_FALSE(row.executeStep());
  }
}

TEST_F(Experiment, WithoutACopySaysSo) {
  add("stock", 1, 8, [] { return 100.0; });
  add("numa-only", 1, 8, [] { return 103.0; });
  const Store store = fabricated_.write();
  const Comparison comparison = compare(store);
  EXPECT_EQ(verdict(comparison, 1), "better");
  const std::string text = find_report_format("terminal").render(comparison, {});
  EXPECT_THAT(text, AllOf(HasSubstr("held to no noise floor"), Not(HasSubstr("A/A ±"))));
  EXPECT_THAT(format_noise(store, fabricated_.experiment.id), HasSubstr("aa: true"));
}

TEST(VerdictsOfTwoExperiments, JudgesRunsThatAreNotInPairs) {
  const auto written = [](FabricatedStore& fabricated, double tps) {
    fabricated.cell("stock", 1);
    for (int i = 0; i < 5; ++i) fabricated.run({MetricValue::of("tps", tps + i)});
    return fabricated.write();
  };
  FabricatedStore first({"stock"});
  FabricatedStore second({"stock"});
  const Store before = written(first, 100);
  const Store after = written(second, 120);
  ComparisonOptions old_options;
  old_options.experiment_id = first.experiment.id;
  ComparisonOptions new_options;
  new_options.experiment_id = second.experiment.id;
  new_options.metrics = {"tps"};
  const Comparison comparison = compare_experiments(before, old_options, after, new_options);
  const Judgement& judgement = *comparison.tables.at(0).rows.at(1).find("tps")->judgement;
  EXPECT_FALSE(judgement.difference.paired);
  EXPECT_DOUBLE_EQ(judgement.difference.p, 2 / 252.0) << "ten runs, five of them first";
  EXPECT_EQ(judgement.verdict.text(), "better");
}

}  // namespace
}  // namespace numabench
