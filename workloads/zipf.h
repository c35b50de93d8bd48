// Exact bounded Zipf sampler for any s > 0: P(rank = k) = k^-s / sum_{i=1..n} i^-s, k = 1..n.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workloads/random.h"

namespace numabench {

/// The ranks beyond a Zipf distribution's head, drawn by inverting the integral of x^-s with
/// rejection.
///
/// Source: Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6 (1996). The integral is taken from the tail's lower edge and in
/// units of that edge, and written with expm1 and log1p, so it keeps its precision for s near and
/// at 1.
class ZipfTail {
 public:
  /// The ranks head + 1 .. n; head < n.
  ZipfTail(std::uint64_t head, std::uint64_t n, double s);

  std::uint64_t sample(Random& random) const;

  /// Sum of k^-s over the tail, by the Euler–Maclaurin formula to the first derivative: what is
  /// left out is at most s(s+1)(s+2) / 720 first^(s+3), nothing in double precision behind 65,535
  /// ranks.
  double sum() const;

 private:
  double area(double x) const;          ///< integral of (y / edge)^-s dy / edge from the edge to x
  double inverse_area(double u) const;  ///< the x with area(x) = u

  double first_;  ///< head + 1
  double last_;   ///< n
  double s_;
  double edge_;       ///< head + 1/2
  double full_area_;  ///< up to n + 1/2
};

/// Immutable after construction and shareable between clients; sampling changes only the Random.
///
/// The first ranks, and the tail as one more bucket, are drawn by Walker's alias method (in Vose's
/// construction: "A linear algorithm for generating random numbers with a given distribution", IEEE
/// TSE 17, 1991) from a table that stays in the second-level cache whatever n is. No rank is
/// approximated: only the rounding of double precision separates the sampler from mass().
class ZipfSampler {
 public:
  /// Buckets of the alias table at most: the head has one rank less when there is a tail.
  static constexpr std::size_t kMaxBuckets = 65536;

  /// n >= 1, s > 0 and finite. Throws Error(kUsage) otherwise.
  ZipfSampler(std::uint64_t n, double s);

  /// Overwrites `ranks` with independent draws from 1..n. Many at a time, as the processor then
  /// works on several: the draws from the tail are put aside until the table's are done.
  void sample(Random& random, std::span<std::uint64_t> ranks) const;

  std::uint64_t n() const { return n_; }
  double s() const { return s_; }
  /// The exact probability of rank k (1..n).
  double mass(std::uint64_t k) const;

 private:
  static constexpr unsigned kAliasBits = 16;
  static constexpr std::size_t kNoTail = kMaxBuckets;
  static constexpr std::size_t kChunk = 64;

  void sample_chunk(Random& random, std::span<std::uint64_t> ranks) const;
  void build_table(std::vector<double> weights);
  /// `kept`: the part of the bucket that is its own, below 1.
  static std::uint64_t entry(double kept, std::size_t alias);

  std::uint64_t n_;
  double s_;
  std::size_t head_;         ///< ranks 1..head_ have a bucket each
  std::size_t tail_bucket_;  ///< the bucket of all other ranks, or kNoTail
  std::optional<ZipfTail> tail_;
  double total_;  ///< sum of k^-s over 1..n
  unsigned bucket_shift_ = 0;
  /// A power of two of buckets. Upper 48 bits: keep the bucket when the random fraction is below;
  /// lower 16: else take this one.
  std::vector<std::uint64_t> table_;
};

}  // namespace numabench
