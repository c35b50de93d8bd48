// Processes that a server forks itself: their memory policy is the server's, what can be placed is
// where they run.
#pragma once

#include <sys/types.h>

#include <functional>

#include "runner/config/experiment.h"
#include "runner/engines/postgres/connection.h"

namespace numabench {

/// Moves the background writer to the CPUs of its role and returns its pid; 0 where the placement
/// has no such role. Throws Error(kRun) when the server has none.
pid_t place_background_writer(Connection& connection, const PlacementConfig& config);

/// Does `work`, which keeps the backend of `connection` busy, with that backend on the CPUs of the
/// loader, if the placement has one.
void on_loader_cpus(Connection& connection, const PlacementConfig& config,
                    const std::function<void()>& work);

}  // namespace numabench
