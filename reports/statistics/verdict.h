// What may be said of an arm beside its baseline, and what may not.
//
// Start here: judge(). A verdict needs six pairs of runs or more, a p-value that stands among all
// the comparisons made, and a difference above the noise floor; what is too wide to tell is said to
// be so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/metric.h"
#include "reports/statistics/difference.h"

namespace numabench {

/// The level of a verdict: of those given where nothing differs, at most so many are wrong.
inline constexpr double kLevel = 0.05;
/// Differences below this are not looked for unless the user asks for less.
inline constexpr double kResolutionPercent = 2;
/// Where one pair of runs differs by more than this, more runs will not help soon: it takes about
/// 400 pairs to show 2 %.
inline constexpr double kUnstablePercent = 10;

/// One arm beside its baseline in one cell: all that a verdict is made from.
struct Evidence {
  Difference difference;
  std::optional<double> floor;  ///< log ratio; absent where no A/A copy ran
  /// How often this cell was looked at before: runs were added because of what was seen (looks.h).
  int earlier_looks = 0;
};

enum class VerdictKind {
  kBetter,
  kWorse,
  kHigher,  ///< of a metric of which neither direction is better
  kLower,
  kNoDifference,  ///< beyond `bound_percent`
  kInconclusive,
  kUnstable,  ///< runs of the same arm differ too much; not the same as "no difference"
};
std::string to_string(VerdictKind kind);  ///< "better", "no difference", …

struct Verdict {
  VerdictKind kind = VerdictKind::kInconclusive;
  double p = 1;  ///< adjusted for looks (looks.h) and for the family (adjust_for_many())
  double bound_percent = 0;  ///< of kNoDifference: the interval lies within ± this
  std::string reason;        ///< of kInconclusive and kUnstable: what is missing

  bool is_difference() const { return kind <= VerdictKind::kLower; }
  /// "better", "no difference beyond ±0.8 %", "inconclusive: 3 pairs, 6 needed".
  std::string text() const;
};

/// How many pairs it takes until an interval reaches no further than ±resolution_percent:
/// (1.96 σ ÷ δ)², σ being the standard deviation of a pair's log ratio; at least the fewest that
/// carry a verdict.
int pairs_for(double noise, double resolution_percent);

/// The verdicts of one family: the comparisons of one metric that a table shows.
/// `resolution_percent`: the smallest difference that matters to the reader.
std::vector<Verdict> judge(const std::vector<Evidence>& family, Better better,
                           double resolution_percent = kResolutionPercent);

}  // namespace numabench
