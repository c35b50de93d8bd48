// Intervals and tests of a mean: against tables of the distributions, worked examples and brute
// force.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "reports/statistics/bootstrap.h"
#include "reports/statistics/difference.h"
#include "reports/statistics/permutation.h"

namespace numabench {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

// Student's own sleep data (1908): the second drug beside the first, ten patients. Published: a
// mean of 1.58, t = 4.062 with 9 degrees of freedom, p = 0.0028, 95 % from 0.70 to 2.46.
const std::vector<double> kSleep = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};

TEST(StudentInterval, IsThatOfThePublishedExample) {
  const Interval interval = student_interval(kSleep).value();
  EXPECT_NEAR(interval.low, 0.7001142, 1e-6);
  EXPECT_NEAR(interval.high, 2.4598858, 1e-6);
  EXPECT_NEAR(student_p(4.0621, 9), 0.002833, 1e-6);
  EXPECT_FALSE(student_interval(std::vector<double>{1}).has_value());
}

TEST(StudentQuantile, IsThatOfTheTables) {
  EXPECT_NEAR(student_quantile(0.05, 2), 4.303, 5e-4);
  EXPECT_NEAR(student_quantile(0.05, 10), 2.228, 5e-4);
  EXPECT_NEAR(student_quantile(0.10, 1e6), 1.645, 5e-4);
}

TEST(Welch, HasSatterthwaitesDegreesOfFreedom) {
  // Worked by hand: means 20 and 24, variances 4 and 25, four values each: 29/4 of variance, 3.93
  // degrees of freedom, t = 1.4856.
  const std::vector<double> before = {20 - std::sqrt(6.0), 20, 20, 20 + std::sqrt(6.0)};
  const std::vector<double> after = {24 - std::sqrt(37.5), 24, 24, 24 + std::sqrt(37.5)};
  const double degrees = 7.25 * 7.25 / ((1.0 + 6.25 * 6.25) / 3);
  EXPECT_NEAR(welch(before, after).p, student_p(4 / std::sqrt(7.25), degrees), 1e-12);
}

TEST(BcaInterval, IsStudentsForSymmetricValuesAndLeansToTheLongTail) {
  std::vector<double> symmetric;
  for (int i = -10; i <= 10; ++i) symmetric.push_back(i);
  const Interval student = student_interval(symmetric).value();
  const Interval bca = bca_interval(symmetric);
  EXPECT_NEAR(bca.high, student.high, 0.06 * student.high);
  EXPECT_NEAR(bca.low, student.low, -0.06 * student.low);

  std::vector<double> skewed;
  for (int i = 0; i < 20; ++i) skewed.push_back(std::exp(i / 5.0));
  const double mean = mean_of(skewed);
  const Interval leaning = bca_interval(skewed);
  EXPECT_GT(leaning.high - mean, 1.2 * (mean - leaning.low));
}

TEST(BcaInterval, IsTheSameEveryTime) {
  EXPECT_EQ(bca_interval(kSleep).low, bca_interval(kSleep).low);
  const std::vector<double> equal(12, 0.25);
  EXPECT_EQ(bca_interval(equal).low, 0.25);
  EXPECT_EQ(bca_interval(equal).high, 0.25);
}

double coverage(int values, int experiments, double truth,
                const std::function<double(std::mt19937_64&)>& draw) {
  std::mt19937_64 random(2015);
  int covered = 0;
  std::vector<double> sample(static_cast<std::size_t>(values));
  for (int i = 0; i < experiments; ++i) {
    std::ranges::generate(sample, [&] { return draw(random); });
    const Interval interval = mean_interval(sample).value();
    if (interval.low <= truth && truth <= interval.high) ++covered;
  }
  return static_cast<double>(covered) / experiments;
}

// Issue 5: intervals cover at their nominal rate ± 1.5 points.
TEST(MeanInterval, CoversTheTruthAsOftenAsItSays) {
  const auto normal = [](std::mt19937_64& random) {
    return std::normal_distribution<double>(3, 2)(random);
  };
  for (const int values : {2, 3, 6, 9}) {
    EXPECT_NEAR(coverage(values, 6000, 3, normal), kConfidence, 0.015) << values;
  }
  for (const int values : {10, 15, 24}) {
    EXPECT_NEAR(coverage(values, 2500, 3, normal), kConfidence, 0.015) << values;
  }
}

TEST(MeanInterval, CoversTheMeanOfHeavyAndOfOneSidedTails) {
  const auto heavy = [](std::mt19937_64& random) {
    return std::student_t_distribution<double>(5)(random);
  };
  const auto skewed = [](std::mt19937_64& random) {
    return std::exp(std::normal_distribution<double>(0, 0.4)(random));
  };
  for (const int values : {10, 15}) {
    EXPECT_NEAR(coverage(values, 2500, 0, heavy), kConfidence, 0.015) << values;
    EXPECT_NEAR(coverage(values, 2500, std::exp(0.08), skewed), kConfidence, 0.02) << values;
  }
}

double brute_force_sign_flips(const std::vector<double>& values) {
  double observed = 0;
  for (const double value : values) observed += value;
  int as_far = 0;
  const int arrangements = 1 << values.size();
  for (int signs = 0; signs < arrangements; ++signs) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      sum += (signs >> i & 1) != 0 ? -values[i] : values[i];
    if (std::abs(sum) >= std::abs(observed) - 1e-9) ++as_far;
  }
  return static_cast<double>(as_far) / arrangements;
}

TEST(SignFlip, CountsEveryArrangement) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0.4, 1);
  for (std::size_t n = 1; n <= 11; ++n) {
    std::vector<double> values(n);
    std::ranges::generate(values, [&] { return noise(random); });
    EXPECT_DOUBLE_EQ(sign_flip_p(values), brute_force_sign_flips(values)) << n;
  }
  EXPECT_DOUBLE_EQ(sign_flip_p(kSleep), brute_force_sign_flips(kSleep)) << "with ties and a zero";
  EXPECT_EQ(sign_flip_p({}), 1);
  EXPECT_EQ(sign_flip_p(std::vector<double>(5, 0.0)), 1);
}

// Requirement A 16: however clear the difference, three pairs cannot carry a star.
TEST(SignFlip, ThreePairsNeverGiveLessThanAQuarter) {
  EXPECT_EQ(sign_flip_p(std::vector<double>{1e9, 1e9, 1e9}), 0.25);
  EXPECT_EQ(sign_flip_p(std::vector<double>(6, -1.0)), 1 / 32.0);
  EXPECT_EQ(fewest_pairs(0.05), 6);
  EXPECT_EQ(attainable_level(0.05, 6), 1 / 32.0);
  EXPECT_EQ(attainable_level(0.05, 5), 0);
  EXPECT_EQ(attainable_level(0.05, 7), 3 / 64.0);
}

TEST(SignFlip, GoesOverIntoStudentsTest) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> noise(0.4, 1);
  std::vector<double> values(kMostExactPairs);
  std::ranges::generate(values, [&] { return noise(random); });
  const double t = mean_of(values) / (deviation_of(values) / std::sqrt(kMostExactPairs));
  EXPECT_NEAR(sign_flip_p(values), student_p(t, kMostExactPairs - 1), 0.005);
}

TEST(Relabel, IsPitmansExample) {
  // 20 ways to choose three of six; only this one and its mirror are as far apart.
  EXPECT_DOUBLE_EQ(relabel_p(std::vector<double>{1, 2, 3}, std::vector<double>{7, 8, 9}), 0.1);
  EXPECT_DOUBLE_EQ(relabel_p(std::vector<double>{1, 8}, std::vector<double>{2, 7}), 1);
  EXPECT_EQ(relabel_p({}, std::vector<double>{1}), 1);
}

TEST(Relabel, GoesOverIntoWelchsTest) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise;
  std::vector<double> before(30);
  std::vector<double> after(30);
  std::ranges::generate(before, [&] { return noise(random); });
  std::ranges::generate(after, [&] { return noise(random) + 0.5; });
  EXPECT_EQ(relabel_p(before, after), welch(before, after).p);
}

// Benjamini and Hochberg (1995), §3: fifteen p-values of a trial, of which the procedure rejects
// four at 0.05 and Bonferroni three.
TEST(AdjustForMany, RejectsWhatThePublishedExampleDoes) {
  const std::vector<double> published = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201,
                                         0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
                                         0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<double> adjusted = adjust_for_many(published);
  EXPECT_EQ(std::ranges::count_if(adjusted, [](double p) { return p <= 0.05; }), 4);
  EXPECT_NEAR(adjusted[3], 0.0095 * 15 / 4, 1e-12);
  EXPECT_TRUE(std::ranges::is_sorted(adjusted));
  EXPECT_THAT(adjust_for_many({0.04}), ElementsAre(0.04));
  EXPECT_THAT(adjust_for_many({0.9, 0.01}),
              ElementsAre(DoubleNear(0.9, 1e-12), DoubleNear(0.02, 1e-12)));
}

TEST(PairedDifference, IsTheGeometricMeanOfRatios) {
  const std::vector<double> ratios = {std::log(1.1), std::log(1.2), std::log(0.9)};
  const Difference difference = paired_difference(ratios).value();
  EXPECT_NEAR(percent_of_log(difference.log_ratio), 100 * (std::cbrt(1.1 * 1.2 * 0.9) - 1), 1e-9);
  EXPECT_EQ(difference.pairs, 3);
  EXPECT_FALSE(paired_difference({}).has_value());
  EXPECT_FALSE(paired_difference(std::vector<double>{1}).value().interval.has_value());
  EXPECT_NEAR(percent_of_log(log_of_percent(3)), 3, 1e-12);
}

}  // namespace
}  // namespace numabench
