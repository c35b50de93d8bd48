// When a warm-up is over: the pool no longer fills, and hit ratio and speed stand still.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "runner/engines/engine.h"

namespace numabench {

/// Fed with a look at the live counters each second. Steady when over the last ten seconds the
/// occupancy of the pool moved by no more than 0.1 points, and the hit ratios of the single seconds
/// by no more than 0.5 points between the mean of the first five and that of the last five, and
/// the transactions of the single seconds (page accesses where there are no transactions) are
/// flat, as is_flat() of reports/trend.h has it: a drift counts, the scatter of single seconds does
/// not. A rule of this program, chosen so that a pool that still fills at one percent in ten
/// seconds is not steady.
class SteadyState {
 public:
  static constexpr std::size_t kSeconds = 10;

  void add(const EngineProgress& progress);
  bool is_reached() const;
  /// What still moves: "the pool fills, tps move"; empty when nothing does.
  std::string moving() const;

 private:
  struct Second {
    double occupancy_pct;
    double hit_pct;
    double work;  ///< transactions, or accesses
  };

  EngineProgress last_;
  bool has_last_ = false;
  std::deque<Second> seconds_;  ///< the newest kSeconds
};

}  // namespace numabench
