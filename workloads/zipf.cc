#include "workloads/zipf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "hosts/error.h"

namespace numabench {
namespace {

/// A candidate this near to its rank, or above it, needs no look at the exact border. In the cell
/// of rank k the integral exceeds the mass by a part of s(s+1) / 24k^2, which is cut off at the
/// cell's lower end; at k > 65535 that reaches 0.01 only for an s whose tail has no mass in double
/// precision.
constexpr double kSurelyAccepted = 0.49;

/// log(1 + y) to a few units in the last place also for small y, by Kahan's correction for what 1 +
/// y rounded away; half the time of std::log1p.
double fast_log1p(double y) {
  const double sum = 1 + y;
  return sum == 1 ? y : std::log(sum) * (y / (sum - 1));
}

double checked_exponent(std::uint64_t n, double s) {
  if (n < 1) throw Error(ErrorKind::kUsage, "a Zipf distribution needs at least one rank");
  if (!(s > 0) || !std::isfinite(s)) {
    throw Error(ErrorKind::kUsage, fmt::format("the Zipf exponent s is {}", s),
                "give a number greater than 0");
  }
  return s;
}

/// k^-s for k = 1..head.
std::vector<double> head_weights(std::size_t head, double s) {
  std::vector<double> weights(head);
  for (std::size_t i = 0; i < head; i++) {
    weights[i] = std::pow(static_cast<double>(i + 1), -s);
  }
  return weights;
}

/// The sum of descending weights, smallest first and in extended precision: good to the last bits.
double sum_of(const std::vector<double>& weights) {
  return static_cast<double>(std::accumulate(weights.rbegin(), weights.rend(), 0.0L));
}

}  // namespace

ZipfTail::ZipfTail(std::uint64_t head, std::uint64_t n, double s)
    : first_(static_cast<double>(head) + 1),
      last_(static_cast<double>(n)),
      s_(s),
      edge_(static_cast<double>(head) + 0.5),
      full_area_(area(last_ + 0.5)) {}

double ZipfTail::area(double x) const {
  const double log_x = std::log(x / edge_);
  const double exponent = 1 - s_;
  return exponent == 0 ? log_x : std::expm1(exponent * log_x) / exponent;
}

double ZipfTail::inverse_area(double u) const {
  const double exponent = 1 - s_;
  return edge_ * std::exp(exponent == 0 ? u : fast_log1p(exponent * u) / exponent);
}

std::uint64_t ZipfTail::sample(Random& random) const {
  while (true) {
    const double u = full_area_ * random.next_double();
    const double x = inverse_area(u);
    const double rank = std::clamp(std::floor(x + 0.5), first_, last_);
    if (rank - x <= kSurelyAccepted ||
        u >= area(rank + 0.5) - std::pow(rank / edge_, -s_) / edge_) {
      return static_cast<std::uint64_t>(rank);
    }
  }
}

double ZipfTail::sum() const {
  const auto f = [this](double x) { return std::pow(x, -s_); };
  const auto slope = [&](double x) { return -s_ * f(x) / x; };
  const double log_ratio = std::log(last_ / first_);
  const double exponent = 1 - s_;
  const double integral = f(first_) * first_ *
                          (exponent == 0 ? log_ratio : std::expm1(exponent * log_ratio) / exponent);
  return integral + (f(first_) + f(last_)) / 2 + (slope(last_) - slope(first_)) / 12;
}

ZipfSampler::ZipfSampler(std::uint64_t n, double s)
    : n_(n),
      s_(checked_exponent(n, s)),
      head_(n <= kMaxBuckets ? static_cast<std::size_t>(n) : kMaxBuckets - 1),
      tail_bucket_(n <= kMaxBuckets ? kNoTail : head_) {
  std::vector<double> weights = head_weights(head_, s);
  total_ = sum_of(weights);
  if (tail_bucket_ != kNoTail) {
    tail_.emplace(head_, n, s);
    weights.push_back(tail_->sum());
    total_ += weights.back();
  }
  build_table(std::move(weights));
}

void ZipfSampler::build_table(std::vector<double> weights) {
  // At least two buckets, so that no shift is by 64 bits. Buckets beyond the weights stay empty.
  const std::size_t buckets = std::max<std::size_t>(2, std::bit_ceil(weights.size()));
  bucket_shift_ = 64 - static_cast<unsigned>(std::countr_zero(buckets));
  weights.resize(buckets, 0.0);

  // Each bucket of less than average weight is filled up from one of more. Empty buckets have the
  // highest indexes and so are filled first, while there is surely something to fill them from.
  const double average = total_ / static_cast<double>(buckets);
  std::vector<std::size_t> poor;
  std::vector<std::size_t> rich;
  for (std::size_t i = 0; i < buckets; i++) {
    weights[i] /= average;
    (weights[i] < 1 ? poor : rich).push_back(i);
  }
  table_.resize(buckets);
  while (!poor.empty() && !rich.empty()) {
    const std::size_t filled = poor.back();
    const std::size_t from = rich.back();
    poor.pop_back();
    table_[filled] = entry(weights[filled], from);
    weights[from] -= 1 - weights[filled];
    if (weights[from] < 1) {
      rich.pop_back();
      poor.push_back(from);
    }
  }
  // What rounding leaves over is full.
  for (const std::size_t full : poor) table_[full] = entry(0, full);
  for (const std::size_t full : rich) table_[full] = entry(0, full);
}

std::uint64_t ZipfSampler::entry(double kept, std::size_t alias) {
  return static_cast<std::uint64_t>(std::ldexp(kept, 64 - kAliasBits)) << kAliasBits | alias;
}

void ZipfSampler::sample(Random& random, std::span<std::uint64_t> ranks) const {
  while (!ranks.empty()) {
    const std::size_t count = std::min(ranks.size(), kChunk);
    sample_chunk(random, ranks.first(count));
    ranks = ranks.subspan(count);
  }
}

void ZipfSampler::sample_chunk(Random& random, std::span<std::uint64_t> ranks) const {
  std::array<std::size_t, kChunk> from_tail;
  std::size_t tail_count = 0;
  for (std::size_t i = 0; i < ranks.size(); i++) {
    const std::uint64_t bits = random.next();
    const std::uint64_t bucket = bits >> bucket_shift_;
    const std::uint64_t fraction = (bits << (64 - bucket_shift_)) >> kAliasBits;
    const std::uint64_t entry = table_[bucket];
    const std::uint64_t index =
        fraction < (entry >> kAliasBits) ? bucket : entry & (kMaxBuckets - 1);
    ranks[i] = index + 1;
    from_tail[tail_count] = i;  // without a branch, which would be mispredicted at each tail draw
    tail_count += index == tail_bucket_ ? 1 : 0;
  }
  for (std::size_t i = 0; i < tail_count; i++) ranks[from_tail[i]] = tail_->sample(random);
}

double ZipfSampler::mass(std::uint64_t k) const {
  return std::pow(static_cast<double>(k), -s_) / total_;
}

}  // namespace numabench
