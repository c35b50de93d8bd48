// The stage before the runs: each arm of the plan is built, with a line of progress.
#pragma once

#include <vector>

#include "runner/arms/arm_build.h"
#include "runner/engines/engine.h"

namespace numabench {

/// Tells of each arm on standard error: what it is at on a terminal, what became of it elsewhere
/// too. Nothing for an engine whose arms need no building. An arm that fails is told and returned,
/// the others go on. Throws Error(kInterrupted) after Ctrl-C.
std::vector<ArmBuild> build_arms(Engine& engine, const Experiment& experiment,
                                 const std::vector<Arm>& arms);

}  // namespace numabench
