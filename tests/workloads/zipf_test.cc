#include "workloads/zipf.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hosts/error.h"
#include "tests/workloads/chi_square.h"

namespace numabench {
namespace {

/// The independent truth: sum of k^-s over first..last in extended precision, term by term up to
/// 20,000, beyond it by the midpoint rule with its first correction (error below k^-4 of a term).
long double zipf_sum(std::uint64_t first, std::uint64_t last, long double s) {
  constexpr std::uint64_t kDirect = 20'000;
  long double sum = 0;
  for (std::uint64_t k = std::min(last, kDirect); k >= first; k--) {
    sum += std::pow(static_cast<long double>(k), -s);
  }
  if (last <= kDirect) return sum;
  const long double from = static_cast<long double>(std::max(first - 1, kDirect)) + 0.5L;
  const long double to = static_cast<long double>(last) + 0.5L;
  const long double t = 1 - s;
  const long double log_ratio = std::log(to / from);
  const long double integral =
      t == 0 ? log_ratio : std::pow(from, t) * std::expm1(t * log_ratio) / t;
  const auto slope = [s](long double x) { return -s * std::pow(x, -s - 1); };
  return sum + integral - (slope(to) - slope(from)) / 24;
}

struct Case {
  double s;
  std::uint64_t n;
};

void PrintTo(const Case& c, std::ostream* out) { *out << fmt::format("s={} n={}", c.s, c.n); }

/// The last ranks of the bins: single ranks up to 64, then bins that grow by a third, and borders
/// at the seam between the sampler's table and its tail.
std::vector<std::uint64_t> bin_ends(std::uint64_t n) {
  std::vector<std::uint64_t> ends;
  for (std::uint64_t end = 1; end < n; end = end < 64 ? end + 1 : end + end / 3) {
    ends.push_back(end);
  }
  for (const std::uint64_t seam : {65534u, 65535u, 65536u}) {
    if (seam < n) ends.push_back(seam);
  }
  ends.push_back(n);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

std::vector<Bin> bins_of(const std::vector<std::uint64_t>& ends, double s) {
  std::vector<Bin> bins;
  const long double total = zipf_sum(1, ends.back(), s);
  std::uint64_t first = 1;
  for (const std::uint64_t end : ends) {
    bins.push_back({static_cast<double>(zipf_sum(first, end, s) / total), 0});
    first = end + 1;
  }
  return bins;
}

/// Counts draws into the bins that end at `ends`; a rank beyond the last end is a test failure.
void count_draws(const ZipfSampler& sampler, std::uint64_t seed, std::uint64_t draws,
                 const std::vector<std::uint64_t>& ends, std::vector<Bin>& bins) {
  Random random(seed);
  std::vector<std::uint64_t> ranks(1000);
  for (std::uint64_t drawn = 0; drawn < draws; drawn += ranks.size()) {
    sampler.sample(random, ranks);
    for (const std::uint64_t rank : ranks) {
      ASSERT_GE(rank, 1u);
      ASSERT_LE(rank, ends.back());
      bins[static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), rank) -
                                    ends.begin())]
          .observed++;
    }
  }
}

class ZipfDistribution : public testing::TestWithParam<Case> {};

TEST_P(ZipfDistribution, FitsTheExactMass) {
  constexpr std::uint64_t kDraws = 1'000'000;
  const auto [s, n] = GetParam();
  const std::vector<std::uint64_t> ends = bin_ends(n);
  std::vector<Bin> bins = bins_of(ends, s);
  ASSERT_NO_FATAL_FAILURE(count_draws(ZipfSampler(n, s), n + 1, kDraws, ends, bins));
  EXPECT_GT(chi_square_p(bins, kDraws), 1e-4);
}

std::vector<Case> distributions() {
  std::vector<Case> cases;
  for (const double s : {0.01, 0.5, 0.99, 1 - 1e-12, 1.0, 1 + 1e-9, 1.1, 2.0, 5.0}) {
    for (const std::uint64_t n : {1u, 2u, 10u, 1000u, 65536u, 65537u, 1'000'000u, 1'000'000'000u}) {
      cases.push_back({s, n});
    }
  }
  cases.push_back({0.5, 1'000'000'000'000});
  cases.push_back({1.0, 1'000'000'000'000});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(AnyExponent, ZipfDistribution, testing::ValuesIn(distributions()));

TEST(ZipfSampler, KeepsTheMassOfEachRankWhereTableAndTailMeet) {
  constexpr std::uint64_t kDraws = 10'000'000;
  constexpr std::uint64_t n = 100'000;
  std::vector<std::uint64_t> ends;
  for (std::uint64_t rank = 65'435; rank < 65'636; rank++) ends.push_back(rank);
  ends.push_back(n);
  std::vector<Bin> bins = bins_of(ends, 0.5);
  ASSERT_NO_FATAL_FAILURE(count_draws(ZipfSampler(n, 0.5), 7, kDraws, ends, bins));
  EXPECT_GT(chi_square_p(bins, kDraws), 1e-4);
}

TEST(ZipfTail, KeepsTheMassOfEachRank) {
  // So near to the head that, for s = 2, one candidate in two hundred has to be rejected.
  constexpr std::uint64_t kDraws = 16'000'000;
  constexpr std::uint64_t kHead = 5;
  for (const double s : {1.0, 2.0}) {
    std::vector<Bin> bins(20);
    const long double total = zipf_sum(kHead + 1, kHead + bins.size(), s);
    for (std::uint64_t i = 0; i < bins.size(); i++) {
      const std::uint64_t rank = kHead + 1 + i;
      bins[i].probability = static_cast<double>(zipf_sum(rank, rank, s) / total);
    }
    const ZipfTail tail(kHead, kHead + bins.size(), s);
    Random random(4);
    for (std::uint64_t i = 0; i < kDraws; i++) bins.at(tail.sample(random) - kHead - 1).observed++;
    EXPECT_GT(chi_square_p(bins, kDraws), 1e-4) << s;
  }
}

TEST(ZipfSampler, ReachesSingleRanksFarDownTheTail) {
  // Were far ranks computed with too few bits, some would come again and again and others never.
  constexpr std::uint64_t n = 4'000'000'000;
  for (const double s : {0.1, 0.99, 1 - 1e-12, 1.0, 1 + 1e-9, 1.1}) {
    Random random(3);
    std::vector<std::uint64_t> ranks(1'000'000);
    ZipfSampler(n, s).sample(random, ranks);
    std::vector<Bin> by_low_bits(8, Bin{1.0 / 8, 0});
    std::uint64_t far = 0;
    for (const std::uint64_t rank : ranks) {
      if (rank <= 10'000'000) continue;
      by_low_bits[rank % 8].observed++;
      far++;
    }
    EXPECT_GT(chi_square_p(by_low_bits, far), 1e-4) << s;
  }
}

/// k^-s in extended precision, fast for the exponents that sums of millions of terms are made of.
long double exact_term(std::uint64_t k, double s) {
  const auto x = static_cast<long double>(k);
  if (s == 0.5) return 1 / std::sqrt(x);
  if (s == 1) return 1 / x;
  if (s == 1.25) return 1 / (x * std::sqrt(std::sqrt(x)));
  if (s == 2) return 1 / (x * x);
  return std::pow(x, -static_cast<long double>(s));
}

void expect_mass_of_direct_sum(double s, const std::vector<std::uint64_t>& ascending_n) {
  long double total = 0;
  std::uint64_t k = 0;
  for (const std::uint64_t n : ascending_n) {
    while (k < n) total += exact_term(++k, s);
    const ZipfSampler sampler(n, s);
    for (const std::uint64_t rank : {std::uint64_t{1}, n / 2 + 1, n}) {
      const long double exact = exact_term(rank, s) / total;
      EXPECT_NEAR(static_cast<double>(sampler.mass(rank) / exact), 1, 1e-12)
          << "s=" << s << " n=" << n << " rank=" << rank;
    }
  }
}

TEST(ZipfSampler, GivesTheMassOfTheDirectSum) {
  for (const double s : {0.5, 1.0, 1.25, 2.0}) {
    expect_mass_of_direct_sum(s, {1, 2, 10, 1000, 65535, 65536, 65537, 1'000'000, 10'000'000});
  }
  for (const double s : {0.01, 0.99, 1 + 1e-9, 1.1, 7.0}) {
    expect_mass_of_direct_sum(s, {3, 65536, 65537, 300'000});
  }
}

TEST(ZipfSampler, TakesHugeExponentsAndCounts) {
  Random random(1);
  std::vector<std::uint64_t> ranks(1000);
  ZipfSampler(std::numeric_limits<std::uint64_t>::max() / 2, 1000).sample(random, ranks);
  EXPECT_EQ(std::count(ranks.begin(), ranks.end(), 1), 1000);
  ZipfSampler(std::uint64_t{1} << 40, 1e-9).sample(random, ranks);
  EXPECT_GT(*std::max_element(ranks.begin(), ranks.end()), std::uint64_t{1} << 39);
}

TEST(ZipfSampler, DependsOnNothingButTheSeed) {
  const ZipfSampler sampler(1'000'000, 1.1);
  std::vector<std::uint64_t> first(500);
  std::vector<std::uint64_t> second(500);
  Random random(5);
  sampler.sample(random, first);
  Random again(5);
  ZipfSampler(1'000'000, 1.1).sample(again, second);
  EXPECT_EQ(first, second);
}

TEST(ZipfSampler, RefusesWhatIsNoDistribution) {
  for (const double s : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(ZipfSampler(10, s), Error) << s;
  }
  EXPECT_THROW(ZipfSampler(0, 1.1), Error);
}

}  // namespace
}  // namespace numabench
