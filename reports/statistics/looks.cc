#include "reports/statistics/looks.h"

#include <algorithm>

namespace numabench {

bool is_open(const Verdict& verdict) {
  if (verdict.is_difference()) return 2 * verdict.p > kLevel;
  return verdict.kind == VerdictKind::kInconclusive;
}

int runs_of_next_look(int done, double noise, const AddRuns& goal) {
  const int few_looks = done + std::max(1, done / 2);
  return std::min(goal.max, std::max(few_looks, pairs_for(noise, goal.until_percent)));
}

}  // namespace numabench
