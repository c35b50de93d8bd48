// Series of patches and builds of arms, worked out by hand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fabricated_store.h"
#include "hosts/error.h"
#include "reports/formats/format.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

const std::vector<std::string> kPatches = {"0001-Add.patch", "0002-Sleep.patch", "0003-Word.patch"};

std::string build_json(std::size_t patches, const std::string& failure = "") {
  nlohmann::json build = {{"failure", failure},
                          {"version", "PostgreSQL 15.18"},
                          {"source", "git https://example.org/pg.git " + std::string(40, 'a')},
                          {"build_id", std::string(40, 'b')},
                          {"compiler", "gcc 12.2.0"},
                          {"cflags", "-O2 -g"},
                          {"patches", nlohmann::json::array()}};
  for (std::size_t i = 0; i < patches; ++i) {
    build["patches"].push_back({{"name", kPatches[i]}, {"sha256", std::string(64, 'c')}});
  }
  return build.dump();
}

/// stock and the prefixes of three patches, three runs of tps each; no runs: it could not be built.
class Series : public ::testing::Test {
 protected:
  Series() : fabricated_({"stock", "s-0003", "s-0001", "s-0002"}) {
    fabricated_.arm("stock").build_json = build_json(0);
    for (std::size_t i = 1; i <= kPatches.size(); ++i) {
      ArmRecord& arm = fabricated_.arm(fmt::format("s-000{}", i));
      arm.series = "s";
      arm.series_position = static_cast<int>(i);
      arm.build_json = build_json(i);
    }
  }
  void runs_of(const std::string& arm, const std::vector<double>& tps) {
    fabricated_.cell(arm, 2);
    fabricated_.runs_of("tps", tps);
    if (tps.empty()) fabricated_.run({}, RunStatus::kFailed, "does not apply");
  }
  Comparison compare(const std::string& name = "s") {
    const Store store = fabricated_.write();
    ComparisonOptions options;
    options.experiment_id = fabricated_.experiment.id;
    return compare_series(store, options, name);
  }

  FabricatedStore fabricated_;
};

/// Eight runs about `tps`: `alike` above it, then as many below, in turn. Arms whose turns differ
/// have ratios above and below that of their means.
std::vector<double> eight_about(double tps, int alike) {
  std::vector<double> runs;
  for (int i = 0; i < 8; ++i) runs.push_back(tps * (i / alike % 2 == 0 ? 1.002 : 0.998));
  return runs;
}

TEST_F(Series, NamesTheFirstPatchThatChangesTheMetric) {
  runs_of("stock", eight_about(100, 1));
  runs_of("s-0001", eight_about(100.1, 2));
  runs_of("s-0002", eight_about(31, 1));
  runs_of("s-0003", eight_about(31.01, 2));
  const Comparison comparison = compare();
  ASSERT_THAT(comparison.series, SizeIs(1));
  const SeriesTable& table = comparison.series[0];
  std::vector<std::string> steps;
  for (const SeriesStep& step : table.steps) steps.push_back(step.arm + " " + step.patch);
  EXPECT_THAT(steps, ElementsAre("stock ", "s-0001 0001-Add.patch", "s-0002 0002-Sleep.patch",
                                 "s-0003 0003-Word.patch"));
  EXPECT_EQ(table.conclusion, "0002-Sleep.patch: tps 0.31 times the step before (worse)");
  EXPECT_FALSE(table.steps[0].judgement);
  EXPECT_EQ(table.steps[1].judgement->verdict.kind, VerdictKind::kNoDifference);
  EXPECT_EQ(table.steps[2].judgement->verdict.kind, VerdictKind::kWorse);
  EXPECT_EQ(table.steps[3].judgement->verdict.kind, VerdictKind::kNoDifference);
  for (const char* format : {"terminal", "markdown", "json"}) {
    EXPECT_THAT(find_report_format(format).render(comparison, {}),
                HasSubstr("tps 0.31 times the step before"));
  }
}

// Three runs carry no verdict, but where to look first can be said.
TEST_F(Series, PointsAtTheFarthestStepWhereRunsAreTooFew) {
  runs_of("stock", {100, 101, 102});
  runs_of("s-0001", {99, 100, 103});
  runs_of("s-0002", {30, 31, 32});
  runs_of("s-0003", {29, 31, 33});
  EXPECT_EQ(compare().series.at(0).conclusion,
            "no patch of the series is shown to change tps; farthest from the step before "
            "(inconclusive: 3 pairs, 6 needed): 0002-Sleep.patch: tps 0.31 times the step before");
}

TEST_F(Series, SaysThatNoPatchDoes) {
  for (const char* arm : {"stock", "s-0001", "s-0002", "s-0003"}) runs_of(arm, eight_about(100, 1));
  EXPECT_EQ(compare().series.at(0).conclusion, "no patch of the series changes tps beyond ±0 %");
}

TEST_F(Series, SuspectsAPatchWithoutAResultTogetherWithTheNext) {
  runs_of("stock", eight_about(100, 1));
  runs_of("s-0001", eight_about(100, 2));
  runs_of("s-0002", {});
  runs_of("s-0003", eight_about(50, 1));
  EXPECT_EQ(compare().series.at(0).conclusion,
            "0003-Word.patch (or 0002-Sleep.patch, which has no result): tps 0.50 times the last "
            "step with a result (worse)");
}

TEST_F(Series, TakesScansWhereNothingHasTransactions) {
  for (const char* arm : {"stock", "s-0001", "s-0002", "s-0003"}) {
    fabricated_.cell(arm, 2);
    fabricated_.runs_of("scans_per_s", {1, 2, 3});
  }
  EXPECT_EQ(compare().series.at(0).metric, "scans_per_s");
}

TEST_F(Series, NamesThoseThereAre) {
  runs_of("stock", {100});
  try {
    compare("t");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'t'"), HasSubstr("known: s")));
  }
}

TEST_F(Series, ArmsAreListedWithWhatTheyWereBuiltFrom) {
  runs_of("stock", {100});
  fabricated_.arm("s-0003").build_json = build_json(3, "0003-Word.patch does not apply");
  const std::string text = find_report_format("terminal").render(compare(), {});
  EXPECT_THAT(text, HasSubstr("git https://example.org/pg.git aaaaaaaaaaaa "));
  EXPECT_THAT(text, HasSubstr("bbbbbbbbbbbb "));
  EXPECT_THAT(text, HasSubstr("0002-Sleep.patch (cccccccc)"));
  EXPECT_THAT(text, HasSubstr("flags (all arms): -O2 -g"));
  EXPECT_THAT(text, HasSubstr("FAILED: 0003-Word.patch does not apply"));
  EXPECT_THAT(text, Not(HasSubstr(std::string(13, 'b'))));
}

TEST_F(Series, PatchesOfOneArmLeaveNoEmptyLinesInAFoldedTable) {
  runs_of("stock", {100});
  runs_of("s-0003", {100});
  FormatOptions narrow;
  narrow.width = 60;
  const std::string text = find_report_format("terminal").render(compare(), narrow);
  EXPECT_THAT(text, HasSubstr("\n\n  arm "));
  EXPECT_THAT(text, HasSubstr("0003-Word.patch (cccccccc)"));
  EXPECT_THAT(text, Not(HasSubstr("\n\n\n")));
}

}  // namespace
}  // namespace numabench
