#include "reports/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>

namespace numabench {
namespace {

using testing::Optional;

TEST(Statistics, NoValuesHaveNoSummary) { EXPECT_FALSE(summarize({}).has_value()); }

TEST(Statistics, OneValueIsItsOwnMedianAndRange) {
  const Summary summary = summarize({42.5}).value();
  EXPECT_EQ(summary.n, 1);
  EXPECT_EQ(summary.median, 42.5);
  EXPECT_EQ(summary.minimum, 42.5);
  EXPECT_EQ(summary.maximum, 42.5);
}

TEST(Statistics, OrderDoesNotMatter) {
  std::vector<double> values = {-3, 10, 0.5, 7};
  do {
    const Summary summary = summarize(values).value();
    EXPECT_EQ(summary.median, 3.75);
    EXPECT_EQ(summary.minimum, -3);
    EXPECT_EQ(summary.maximum, 10);
  } while (std::next_permutation(values.begin(), values.end()));
}

// The definition of a median, without sorting: as many values above it as below.
TEST(Statistics, AsManyValuesLieAboveTheMedianAsBelow) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> few_distinct(-5, 5);
  for (std::size_t n = 1; n <= 40; ++n) {
    std::vector<double> values(n);
    for (double& value : values) value = few_distinct(random);
    const double median = summarize(values).value().median;
    const auto half = static_cast<std::ptrdiff_t>(n / 2);
    EXPECT_LE(std::count_if(values.begin(), values.end(), [&](double v) { return v < median; }),
              half);
    EXPECT_LE(std::count_if(values.begin(), values.end(), [&](double v) { return v > median; }),
              half);
  }
}

TEST(Statistics, TheMedianOfHugeValuesDoesNotOverflow) {
  constexpr double kMax = std::numeric_limits<double>::max();
  EXPECT_EQ(summarize({kMax, kMax}).value().median, kMax);
  EXPECT_EQ(summarize({-kMax, kMax}).value().median, 0);
}

TEST(Statistics, SpreadIsTheRangeInPercentOfTheMedian) {
  EXPECT_THAT(spread_percent({3, 200, 190, 214}), Optional(12.0));
  EXPECT_THAT(spread_percent({3, -200, -214, -190}), Optional(12.0));
}

// Requirement B 33: runs that all agree are no reason for a flag, whatever they agree on.
TEST(Statistics, EqualValuesHaveNoSpread) {
  EXPECT_THAT(spread_percent({3, 5, 5, 5}), Optional(0.0));
  EXPECT_THAT(spread_percent({3, 0, 0, 0}), Optional(0.0));
}

TEST(Statistics, AMedianOfZeroHasNoSpreadInPercent) {
  EXPECT_EQ(spread_percent({3, 0, 0, 10}), std::nullopt);
}

}  // namespace
}  // namespace numabench
