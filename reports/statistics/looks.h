// When runs are added because of what was seen, and how many: the rule of --add-runs.
//
// A verdict that is looked at after every run is found by luck sooner or later. So the number of
// runs to add follows from the noise measured so far, not from the difference (Stein 1945, "A
// two-sample test for a linear hypothesis whose power is independent of the variance"); and the
// level is spent over the looks, half of what is left at each: 2.5 %, 1.25 %, … and all of it at
// the last (alpha spending, Lan and DeMets 1983, "Discrete sequential boundaries for clinical
// trials"). A difference ends the adding when it stands at its look's share, is_open(); what a
// report says after `earlier_looks` is held to all that is left, 5 % ÷ 2^earlier_looks, judge().
// The shares add up to 5 %, whatever the looks have in common. simulation.h holds it to that.
#pragma once

#include "reports/statistics/verdict.h"

namespace numabench {

struct AddRuns {
  double until_percent = kResolutionPercent;  ///< the smallest difference that matters
  int max = 15;                               ///< runs a cell, with those of the plan
};

/// Whether more runs may change the verdict. A cell that is unstable is not helped by more.
bool is_open(const Verdict& verdict);

/// How many runs a cell should have at its next look, given how many it has; not above
/// `goal.max`: then there is no next one. `noise` is that of the noisiest open arm's pairs. Each
/// look has half again as many runs or more, so that there are few.
int runs_of_next_look(int done, double noise, const AddRuns& goal);

}  // namespace numabench
