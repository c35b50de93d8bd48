#include "runner/steady_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "reports/trend.h"

namespace numabench {
namespace {

constexpr double kOccupancyPoints = 0.1;
constexpr double kHitPoints = 0.5;

}  // namespace

void SteadyState::add(const EngineProgress& progress) {
  if (has_last_ && progress.accesses > last_.accesses) {
    const auto accesses = static_cast<double>(progress.accesses - last_.accesses);
    const auto reads = static_cast<double>(progress.reads - last_.reads);
    const std::uint64_t before = last_.transactions.value_or(0);
    const std::uint64_t now = progress.transactions.value_or(0);
    seconds_.push_back({progress.occupancy_pct, 100.0 * (1.0 - reads / accesses),
                        now > 0 ? static_cast<double>(now - before) : accesses});
    if (seconds_.size() > kSeconds) seconds_.pop_front();
  }
  last_ = progress;
  has_last_ = true;
}

bool SteadyState::is_reached() const { return seconds_.size() == kSeconds && moving().empty(); }

std::string SteadyState::moving() const {
  if (seconds_.empty()) return "nothing was asked of the pool";
  std::vector<std::string> what;
  const auto [emptiest, fullest] = std::ranges::minmax(seconds_, {}, &Second::occupancy_pct);
  if (fullest.occupancy_pct - emptiest.occupancy_pct > kOccupancyPoints) {
    what.emplace_back("the pool fills");
  }
  double drift = 0;
  std::vector<double> work;
  for (std::size_t i = 0; i < seconds_.size(); ++i) {
    drift += (i < seconds_.size() / 2 ? -1 : 1) * seconds_[i].hit_pct;
    work.push_back(seconds_[i].work);
  }
  if (std::abs(drift) / (kSeconds / 2.0) > kHitPoints) what.emplace_back("the hit ratio moves");
  if (!is_flat(work)) what.emplace_back("the speed moves");
  return fmt::format("{}", fmt::join(what, ", "));
}

}  // namespace numabench
