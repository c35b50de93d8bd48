#include "reports/trend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace numabench {
namespace {

using testing::HasSubstr;

/// How many of all orders of `series` have a sum of signs at least as far from 0: p without any
/// approximation.
double exact_trend_p(std::vector<double> series) {
  const auto sum_of_signs = [](const std::vector<double>& values) {
    int sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t j = i + 1; j < values.size(); ++j) {
        sum += (values[j] > values[i]) - (values[j] < values[i]);
      }
    }
    return std::abs(sum);
  };
  const int observed = sum_of_signs(series);
  std::ranges::sort(series);
  int all = 0;
  int as_far = 0;
  do {
    ++all;
    as_far += sum_of_signs(series) >= observed ? 1 : 0;
  } while (std::next_permutation(series.begin(), series.end()));
  return static_cast<double>(as_far) / all;
}

TEST(Trend, AgreesWithAllOrdersOfAShortSeries) {
  for (const auto& series : std::vector<std::vector<double>>{{1, 2, 3, 4, 5, 6, 7, 8},
                                                             {3, 1, 4, 2, 8, 5, 7, 6},
                                                             {8, 6, 7, 5, 3, 4, 2, 1},
                                                             {2, 7, 1, 8, 3, 6, 4, 5}}) {
    EXPECT_NEAR(find_trend(series).p, exact_trend_p(series), 0.03);
  }
}

TEST(Trend, TakesTheMedianOfAllSlopes) {
  std::vector<double> line(21);
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = 100 - 0.5 * static_cast<double>(i);
  line[3] = 1e6;  // an outlier moves it hardly
  EXPECT_NEAR(find_trend(line).slope_per_step, -0.5, 0.05);
  EXPECT_LT(find_trend(line).p, 1e-6);
}

TEST(Trend, OfAConstantOrNoSeriesIsNone) {
  EXPECT_EQ(find_trend(std::vector<double>(20, 7)).p, 1);
  EXPECT_EQ(find_trend({}).p, 1);
  EXPECT_EQ(find_trend({5}).p, 1);
}

std::vector<double> noise(std::mt19937& random, std::size_t n) {
  std::normal_distribution<double> normal(1000, 20);
  std::vector<double> series(n);
  for (double& value : series) value = normal(random);
  return series;
}

TEST(Trend, FindsOneInNoiseAsOftenAsItsPSays) {
  std::mt19937 random(1);
  int trends = 0;
  int points = 0;
  constexpr int kSeries = 4000;
  for (int i = 0; i < kSeries; ++i) {
    const std::vector<double> series = noise(random, 30);
    trends += find_trend(series).p < 0.05 ? 1 : 0;
    points += find_change_point(series).p < 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(trends) / kSeries, 0.05, 0.015);
  EXPECT_LT(static_cast<double>(points) / kSeries, 0.055) << "Pettitt's approximation is cautious";
}

TEST(ChangePoint, IsWhereTheLevelJumps) {
  std::mt19937 random(2);
  std::vector<double> series = noise(random, 40);
  for (std::size_t i = 25; i < series.size(); ++i) series[i] += 100;
  const ChangePoint point = find_change_point(series);
  EXPECT_EQ(point.before, 25u);
  EXPECT_LT(point.p, 0.001);
}

// U of Pettitt's definition, summed over all pairs on either side of each point.
TEST(ChangePoint, HasTheLargestSumOfSignsOverBothSides) {
  std::mt19937 random(3);
  for (int repeat = 0; repeat < 50; ++repeat) {
    const std::vector<double> series = noise(random, 17);
    double largest = 0;
    std::size_t best = 0;
    for (std::size_t t = 1; t < series.size(); ++t) {
      double u = 0;
      for (std::size_t i = 0; i < t; ++i) {
        for (std::size_t j = t; j < series.size(); ++j) {
          u += (series[i] > series[j]) - (series[i] < series[j]);
        }
      }
      if (std::abs(u) > largest) {
        largest = std::abs(u);
        best = t;
      }
    }
    const ChangePoint point = find_change_point(series);
    EXPECT_EQ(point.before, best);
    const double n = 17;
    EXPECT_NEAR(point.p, std::min(1.0, 2 * std::exp(-6 * largest * largest / (n * n * n + n * n))),
                1e-12);
  }
}

TEST(Settling, NeedsBothSizeAndSignificance) {
  std::mt19937 random(4);
  EXPECT_EQ(judge_settling(noise(random, 60)).unsettled, "");
  std::vector<double> drifting = noise(random, 60);
  for (std::size_t i = 0; i < drifting.size(); ++i) drifting[i] += 3 * static_cast<double>(i);
  EXPECT_THAT(judge_settling(drifting).unsettled, HasSubstr("tps drifted by +1"));
  std::vector<double> creeping(60);
  std::iota(creeping.begin(), creeping.end(), 100'000.0);
  EXPECT_EQ(judge_settling(creeping).unsettled, "") << "significant and tiny";
  std::vector<double> jumping(60, 1000);
  for (std::size_t i = 50; i < 60; ++i) jumping[i] = 800;
  EXPECT_NE(judge_settling(jumping).unsettled, "");
}

TEST(Settling, DoesNotJudgeAFewSeconds) {
  const Settling settling = judge_settling({1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(settling.unsettled, "");
  for (const MetricValue& value : settling.values) {
    EXPECT_FALSE(value.value);
    EXPECT_NE(find_metric(value.metric), nullptr);
  }
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInIt) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_TRUE(std::isnan(median_of({})));
}

}  // namespace
}  // namespace numabench
