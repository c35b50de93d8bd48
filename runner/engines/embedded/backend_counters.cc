#include "runner/engines/embedded/backend_counters.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace numabench {
namespace {

// Values below this are their own buckets.
constexpr std::uint64_t kExact = std::uint64_t{2} << Histogram::kSubBucketBits;

}  // namespace

std::size_t Histogram::bucket_of(std::uint64_t value) {
  if (value < kExact) return value;
  const auto exponent = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBucketBits;
  return (std::size_t{exponent} << kSubBucketBits) + (value >> exponent);
}

std::uint64_t Histogram::bucket_end(std::size_t bucket) {
  if (bucket < kExact) return bucket;
  const std::size_t exponent = (bucket >> kSubBucketBits) - 1;
  const std::uint64_t mantissa = bucket - (exponent << kSubBucketBits);
  return (mantissa << exponent) + ((std::uint64_t{1} << exponent) - 1);
}

void Histogram::add(std::uint64_t value) {
  ++buckets_[bucket_of(value)];
  maximum_ = std::max(maximum_, value);
  const auto real = static_cast<double>(value);
  sum_ += real;
  sum_of_squares_ += real * real;
}

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  maximum_ = std::max(maximum_, other.maximum_);
  sum_ += other.sum_;
  sum_of_squares_ += other.sum_of_squares_;
}

std::uint64_t Histogram::count() const {
  return std::accumulate(buckets_.begin(), buckets_.end(), std::uint64_t{0});
}

double Histogram::mean() const {
  const std::uint64_t n = count();
  return n == 0 ? 0 : sum_ / static_cast<double>(n);
}

double Histogram::standard_deviation() const {
  const std::uint64_t n = count();
  if (n == 0) return 0;
  const double mean = sum_ / static_cast<double>(n);
  return std::sqrt(std::max(0.0, sum_of_squares_ / static_cast<double>(n) - mean * mean));
}

std::uint64_t Histogram::quantile(double fraction) const {
  const auto wanted =
      static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(count())));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= wanted && seen > 0) return std::min(bucket_end(i), maximum_);
  }
  return 0;
}

void BackendCounters::merge(const BackendCounters& other) {
  for (const auto counter :
       {&BackendCounters::accesses, &BackendCounters::reads, &BackendCounters::hot_accesses,
        &BackendCounters::hot_reads, &BackendCounters::evictions, &BackendCounters::victims,
        &BackendCounters::ticks, &BackendCounters::forced, &BackendCounters::retries,
        &BackendCounters::ring_reuses, &BackendCounters::victims_home,
        &BackendCounters::victims_foreign, &BackendCounters::transactions, &BackendCounters::scans,
        &BackendCounters::scan_pages}) {
    (this->*counter).add((other.*counter).get());
  }
  ticks_per_victim.merge(other.ticks_per_victim);
  latency_ns.merge(other.latency_ns);
}

}  // namespace numabench
