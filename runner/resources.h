// The memory and disk of this host against what a plan needs.
#pragma once

#include "runner/plan.h"

namespace numabench {

/// Throws Error(kPreflight) with the sizes when a cell of the plan does not fit.
void check_resources(const Plan& plan);

}  // namespace numabench
