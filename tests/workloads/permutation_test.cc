#include "workloads/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/workloads/chi_square.h"

namespace numabench {
namespace {

std::vector<std::uint64_t> all_images(std::uint64_t n, std::uint64_t seed) {
  const Permutation permutation(n, seed);
  std::vector<std::uint64_t> images(n);
  for (std::uint64_t i = 0; i < n; i++) images[i] = permutation(i);
  return images;
}

bool is_permutation(const std::vector<std::uint64_t>& images) {
  std::vector<bool> seen(images.size());
  for (const std::uint64_t image : images) {
    if (image >= images.size() || seen[image]) return false;
    seen[image] = true;
  }
  return true;
}

/// p-value of `values`, each below n, being uniform; over 64 bins.
double uniformity(const std::vector<std::uint64_t>& values, std::uint64_t n) {
  constexpr std::uint64_t kBins = 64;
  std::vector<Bin> bins(kBins, Bin{1.0 / kBins, 0});
  for (const std::uint64_t value : values) bins[value * kBins / n].observed++;
  return chi_square_p(bins, values.size());
}

TEST(Permutation, IsABijectionForEverySmallSize) {
  for (std::uint64_t n = 1; n <= 1100; n++) {
    EXPECT_TRUE(is_permutation(all_images(n, n * 7))) << n;
  }
}

TEST(Permutation, IsABijectionAroundPowersOfTwo) {
  for (const std::uint64_t bits : {12u, 15u, 16u, 20u}) {
    for (const std::uint64_t n :
         {(1u << bits) - 1, 1u << bits, (1u << bits) + 1, (1u << bits) * 3 / 2 + 7}) {
      EXPECT_TRUE(is_permutation(all_images(n, bits))) << n;
    }
  }
}

TEST(Permutation, StaysInRangeForHugeSizes) {
  for (const std::uint64_t n : {std::uint64_t{31'500'000}, (std::uint64_t{1} << 32) + 1,
                                std::uint64_t{61} << 32, (std::uint64_t{1} << 62) - 1}) {
    const Permutation permutation(n, 11);
    std::vector<std::uint64_t> images;
    for (std::uint64_t i = 0; i < 20'000; i++) {
      images.push_back(permutation(i));
      images.push_back(permutation(n - 1 - i));
    }
    EXPECT_LT(*std::max_element(images.begin(), images.end()), n);
    std::sort(images.begin(), images.end());
    EXPECT_EQ(std::unique(images.begin(), images.end()), images.end()) << n;
  }
}

TEST(Permutation, DependsOnTheSeed) {
  EXPECT_EQ(all_images(10'000, 1), all_images(10'000, 1));
  const std::vector<std::uint64_t> one = all_images(10'000, 1);
  const std::vector<std::uint64_t> two = all_images(10'000, 2);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < one.size(); i++) equal += one[i] == two[i] ? 1 : 0;
  EXPECT_LT(equal, 10u);  // of two independent permutations: one on the average
}

TEST(Permutation, ScattersTheHotRowsEvenly) {
  for (const std::uint64_t n : {100'003u, 1u << 20, (1u << 20) + 1, 31'500'000u}) {
    const Permutation permutation(n, 5);
    std::vector<std::uint64_t> images;
    std::vector<std::uint64_t> gaps;
    for (std::uint64_t i = 0; i < 20'000; i++) {
      images.push_back(permutation(i));
      gaps.push_back((permutation(i + 1) + n - images.back()) % n);
    }
    EXPECT_GT(uniformity(images, n), 1e-4) << n;
    EXPECT_GT(uniformity(gaps, n), 1e-4) << n;
  }
}

TEST(Permutation, PutsTheHottestRowAnywhereAcrossSeeds) {
  constexpr std::uint64_t n = 700'000;
  std::vector<std::uint64_t> images;
  std::vector<std::uint64_t> gaps;
  for (std::uint64_t seed = 0; seed < 20'000; seed++) {
    const Permutation permutation(n, seed);
    images.push_back(permutation(0));
    gaps.push_back((permutation(1) + n - images.back()) % n);
  }
  EXPECT_GT(uniformity(images, n), 1e-4);
  EXPECT_GT(uniformity(gaps, n), 1e-4);
}

}  // namespace
}  // namespace numabench
