// A server's main shared memory: where its pages lie, and touching them.
#pragma once

#include <sys/types.h>

#include <vector>

#include "hosts/placement.h"
#include "hosts/process_stats.h"

namespace numabench {

/// Its mappings, with all the pages that exist; none is created. Each process knows only those it
/// has touched, so the mapping is looked at from here, which needs root; without, each is taken
/// from the process that has touched most of it: a lower bound. Empty where the kernel does not
/// tell.
std::vector<NumaMapping> main_shared_memory(pid_t postmaster);

/// Touches each of its pages from a process under `placement`, and so places those that nobody has
/// touched yet: what a server that prefaults its memory at its start does. Throws Error(kRun).
void touch_shared_memory(pid_t postmaster, const Placement& placement);

}  // namespace numabench
