// The settings that a cell's server is started with.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runner/engines/engine.h"
#include "workloads/sql_workload.h"

namespace numabench {

/// Ours (the pool, connections for all clients, no autovacuum where nobody writes), then the
/// experiment's, then the arm's: later ones win. huge_pages is left to the caller, who counts them
/// first, unless the config has it.
std::map<std::string, std::string> server_settings(const CellSetup& setup,
                                                   const SqlWorkload& workload);

/// Connections that a cell needs: its clients, ours, and those reserved for superusers.
int connections_needed(const SqlWorkload& workload);

/// Empty when the settings that the config gives suit the cell, else why not: shared_buffers and
/// what numabench itself decides (sockets, restart_after_crash) are not for the config, and
/// max_connections must be enough for the clients.
std::string settings_refusal(const CellSetup& setup, const SqlWorkload& workload);

}  // namespace numabench
