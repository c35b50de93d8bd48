// What one backend counts, on cache lines of its own; summed by the engine at the end.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace numabench {

/// A log-linear histogram: exact below 64, then 32 buckets per power of two (error at most 1/32).
/// One writer; to be read once it has stopped.
class Histogram {
 public:
  static constexpr unsigned kSubBucketBits = 5;
  static constexpr std::size_t kBuckets = (65 - kSubBucketBits) << kSubBucketBits;

  void add(std::uint64_t value);
  void merge(const Histogram& other);
  std::uint64_t count() const;
  std::uint64_t maximum() const { return maximum_; }
  double mean() const;
  double standard_deviation() const;
  /// The smallest value that at least `fraction` of the values do not exceed, rounded up to its
  /// bucket's end and never above the maximum; 0 of no values.
  std::uint64_t quantile(double fraction) const;

 private:
  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t bucket_end(std::size_t bucket);
  std::array<std::uint32_t, kBuckets> buckets_{};
  std::uint64_t maximum_ = 0;
  double sum_ = 0;
  double sum_of_squares_ = 0;
};

/// Plain counters with a single writer, readable while it runs (relaxed atomics, no locked
/// instructions).
class Counter {
 public:
  void add(std::uint64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct alignas(128) BackendCounters {
  Counter accesses;      ///< read() calls
  Counter reads;         ///< misses
  Counter hot_accesses;  ///< of Access::kHot
  Counter hot_reads;
  Counter evictions;  ///< victims that held a page
  Counter victims;    ///< buffers that the sweep gave
  Counter ticks;      ///< advances of a hand
  Counter forced;     ///< allocations on which the bound engaged
  Counter retries;    ///< victims lost between claim and invalidation
  Counter ring_reuses;
  Counter victims_home;  ///< of the home partition
  Counter victims_foreign;
  Counter transactions;        ///< finished by a point client
  Counter scans;               ///< finished by a scanner
  Counter scan_pages;          ///< read by a scanner
  Histogram ticks_per_victim;  ///< of every allocation that the sweep served
  Histogram latency_ns;        ///< of every transaction or scan

  /// Adds everything that `other` counted.
  void merge(const BackendCounters& other);
};

}  // namespace numabench
