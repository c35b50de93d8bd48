#include "runner/engines/embedded/backend_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "workloads/random.h"

namespace numabench {
namespace {

std::uint64_t exact_quantile(std::vector<std::uint64_t> values, double fraction) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(fraction * double(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

TEST(Histogram, OfNothingIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.maximum(), 0u);
  EXPECT_EQ(histogram.quantile(0.5), 0u);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.standard_deviation(), 0);
}

TEST(Histogram, IsExactForSmallValues) {
  Histogram histogram;
  for (std::uint64_t value = 0; value < 64; ++value) histogram.add(value);
  for (std::uint64_t value = 0; value < 64; ++value) {
    EXPECT_EQ(histogram.quantile(double(value + 1) / 64), value);
  }
}

TEST(Histogram, QuantilesAreWithinOneBucketAboveTheExactOnes) {
  Random random(1);
  Histogram histogram;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(random.next() >> random.next_below(64));  // every magnitude
    histogram.add(values.back());
  }
  for (const double fraction : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double exact = double(exact_quantile(values, fraction));
    EXPECT_GE(double(histogram.quantile(fraction)), exact) << fraction;
    EXPECT_LE(double(histogram.quantile(fraction)), exact * (1 + 1.0 / 32)) << fraction;
  }
}

TEST(Histogram, TheLargestValueHasABucket) {
  Histogram histogram;
  histogram.add(~std::uint64_t{0});
  EXPECT_EQ(histogram.quantile(1), ~std::uint64_t{0});
  EXPECT_EQ(histogram.count(), 1u);
}

TEST(Histogram, QuantilesDoNotExceedTheMaximum) {
  Histogram histogram;
  histogram.add(1'000'001);
  EXPECT_EQ(histogram.quantile(0.5), 1'000'001u);
}

TEST(Histogram, MergingIsAddingAll) {
  auto left = std::make_unique<Histogram>();
  auto right = std::make_unique<Histogram>();
  auto both = std::make_unique<Histogram>();
  for (std::uint64_t value : {3u, 500u, 70'000u}) left->add(value), both->add(value);
  for (std::uint64_t value : {9u, 12'345'678u}) right->add(value), both->add(value);
  left->merge(*right);
  EXPECT_EQ(left->count(), 5u);
  EXPECT_EQ(left->maximum(), 12'345'678u);
  EXPECT_DOUBLE_EQ(left->mean(), both->mean());
  EXPECT_DOUBLE_EQ(left->standard_deviation(), both->standard_deviation());
  EXPECT_EQ(left->quantile(0.5), both->quantile(0.5));
}

TEST(Histogram, MeanAndStandardDeviationAreThoseOfTheValuesNotOfTheBuckets) {
  Histogram histogram;
  for (std::uint64_t value : {1'000'003u, 1'000'007u}) histogram.add(value);
  EXPECT_DOUBLE_EQ(histogram.mean(), 1'000'005);
  EXPECT_NEAR(histogram.standard_deviation(), 2, 1e-3);
}

TEST(BackendCounters, OfTwoBackendsShareNoCacheLinePair) {
  EXPECT_EQ(alignof(BackendCounters), 128u);
  EXPECT_EQ(sizeof(BackendCounters) % 128, 0u);
}

}  // namespace
}  // namespace numabench
