// The PostgreSQL engine: a real server of each arm, pgbench as its clients.
//
// Start here: postgres_engine.cc says what happens when; postgres_run.h is one run: the server
// (server.h) on a dataset (dataset_store.h), its clients (client_processes.h, pgbench.h) and what
// is counted (server_counters.h, sweep_counters.h).
#pragma once

#include <memory>

#include "runner/engines/engine.h"

namespace numabench {

std::unique_ptr<Engine> make_postgres_engine();

}  // namespace numabench
