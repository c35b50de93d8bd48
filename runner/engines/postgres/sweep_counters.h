// The counters compiled into a counted server binary (runner/arms/counted/): shared with it through
// a mapped file, one slot a process of the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reports/metric.h"

namespace numabench {

/// Sums over all processes of the server since the last reset.
struct SweepTotals {
  std::uint64_t calls = 0;    ///< StrategyGetBuffer calls
  std::uint64_t sweeps = 0;   ///< of them, those that advanced the hand
  std::uint64_t ticks = 0;    ///< advances of the hand
  std::uint64_t longest = 0;  ///< most advances by one call
  std::uint64_t largest_claim =
      0;                       ///< most buffers that one advance claimed; above 1, no number of
                               ///< a single call means anything (freelist_counted.c says why)
  std::uint64_t backends = 0;  ///< slots in use
  std::uint64_t lost = 0;      ///< calls of backends that had no slot: the numbers do not count
  std::vector<std::uint64_t> histogram;  ///< of ticks per sweeping call; see bucket_upper_bound()
};

/// The largest number of ticks that bucket `index` counts. It exceeds none of the values in its
/// bucket by more than 1.6 %; below 128 ticks, buckets are exact.
std::uint64_t bucket_upper_bound(std::size_t index);

class SweepCounters {
 public:
  /// Makes the file, readable and writable for `uid`'s server. The server's process number N writes
  /// to slot N: give `backends` generously, as max_connections and some 128 more for what else has
  /// a number (autovacuum, background and parallel workers, WAL senders, auxiliary processes,
  /// prepared transactions). The file is sparse, 14 kB a slot that is used; on a tmpfs the kernel
  /// never writes it to a disk that is being measured. Throws Error(kRun).
  static SweepCounters create(const std::string& path, int backends, unsigned uid, unsigned gid);
  SweepCounters(SweepCounters&&) noexcept;
  SweepCounters& operator=(SweepCounters&&) noexcept;
  ~SweepCounters();  ///< unmaps and removes the file

  const std::string& path() const;  ///< for the environment variable NUMABENCH_SWEEP_COUNTERS
  /// Whether the server has mapped it: its constructor leaves a mark.
  bool is_attached() const;
  void reset();
  SweepTotals totals() const;

 private:
  struct Mapping;
  explicit SweepCounters(std::unique_ptr<Mapping> mapping);
  std::unique_ptr<Mapping> mapping_;
};

/// adv_per_victim_counted, tail, ticks_p999, ticks_p9999, victims (sweeps) of `totals`; all absent
/// with the reason when calls were lost or the hand is claimed in batches, and all but the victims
/// when nothing swept. A percentile is the upper bound of its bucket, so at most 1.6 % too high.
std::vector<MetricValue> sweep_values(const SweepTotals& totals);

/// "ticks_up_to,calls" lines of the buckets that are not empty: an artifact.
std::string histogram_csv(const SweepTotals& totals);

}  // namespace numabench
