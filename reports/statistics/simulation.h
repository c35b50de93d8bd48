// Experiments with a known truth, judged as real ones are: what the error rates, the power and the
// orders of runs promise is checked on these.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reports/statistics/looks.h"
#include "reports/statistics/verdict.h"

namespace numabench {

struct SimulatedExperiment {
  enum class Order {
    kBlocked,  ///< the arms of a repetition side by side, in a rotated order
    kConfig,   ///< all runs of an arm, then all of the next
  };
  int cells = 1;
  int arms = 1;  ///< beside the baseline and its copy
  int runs = 10;
  double noise_percent = 1;   ///< standard deviation of the ratio of two runs
  double effect_percent = 0;  ///< of every arm but the copy, in every cell
  double drift_percent = 0;   ///< from the first run of the experiment to its last
  Order order = Order::kBlocked;
  bool aa = true;                        ///< the copy is measured and its noise floor held against
  std::optional<AddRuns> add_runs = {};  ///< then runs are added, as resume --add-runs does
};

/// The verdicts of every arm in every cell on one draw of the noise: normal on the log scale. With
/// `add_runs` those of the last look.
std::vector<Verdict> simulate(const SimulatedExperiment& experiment, std::uint64_t seed);

/// In how many of `experiments` draws any verdict says that an arm differs, 0 to 1.
double share_with_difference(const SimulatedExperiment& experiment, int experiments);

}  // namespace numabench
