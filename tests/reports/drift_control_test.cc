// The first run once more at the end of an experiment: kept, and counted nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/comparison.h"
#include "tests/reports/store_fixture.h"

namespace numabench::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

class DriftControl : public StoreFolder {
 protected:
  DriftControl() {
    Store store = open_for_writing();
    const auto cells = add_cells(store, {"stock"}, {"g"});
    for (int repetition = 1; repetition <= 3; ++repetition) {
      store.add_run(
          run_record(cells[0].id, repetition, {MetricValue::of("tps", 1000.0 * repetition)}));
    }
    RunRecord again = run_record(cells[0].id, kDriftControl, {MetricValue::of("tps", 1010)});
    again.events = {{"info", "checkpoint starting: time", 2.5}};
    store.add_run(again);
  }
};

TEST_F(DriftControl, IsInNoMedianAndNoRunOfItsCell) {
  const Store store = open_for_reading();
  EXPECT_THAT(store.runs(1), SizeIs(3));
  ASSERT_THAT(store.medians(1), SizeIs(1));
  EXPECT_EQ(store.medians(1)[0].runs, 3);
  EXPECT_EQ(store.medians(1)[0].median, 2000);
  EXPECT_EQ(store.medians(1)[0].minimum, 1000);
  ComparisonOptions options;
  options.experiment_id = 1;
  const ComparisonRow row = compare_arms(store, options).tables.at(0).rows.at(0);
  EXPECT_EQ(row.runs_total, 3);
  EXPECT_EQ(row.find("tps")->summary->median, 2000);
}

TEST_F(DriftControl, IsKeptWithAllItHas) {
  const Store store = open_for_reading();
  const auto controls = store.drift_controls(1);
  ASSERT_THAT(controls, SizeIs(1));
  EXPECT_EQ(controls[0].repetition, kDriftControl);
  EXPECT_EQ(find_value(controls[0].values, "tps")->value, 1010);
  ASSERT_THAT(controls[0].events, SizeIs(1));
  EXPECT_EQ(controls[0].events[0].t_seconds, 2.5);
}

TEST_F(DriftControl, IsTheReadersToSee) {
  ComparisonOptions options;
  options.experiment_id = 1;
  EXPECT_THAT(compare_arms(open_for_reading(), options).notes,
              Contains(HasSubstr("the first cell repeated last has 1,010 tps, +1.0 % of its first "
                                 "1,000")));
}

TEST_F(DriftControl, CountsOnce) {
  Store store = open_for_writing();
  const auto cell = store.cells(1).at(0).id;
  EXPECT_ANY_THROW(store.add_run(run_record(cell, kDriftControl))) << "one counts";
}

}  // namespace
}  // namespace numabench::test
