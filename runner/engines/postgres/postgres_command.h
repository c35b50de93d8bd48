// The command line of a postgres.
#pragma once

#include <string>
#include <vector>

#include "hosts/process.h"
#include "runner/engines/postgres/server.h"

namespace numabench {

/// "postgres -D … -c name=value …"
std::vector<std::string> postgres_arguments(const ServerOptions& options);

/// Its user, placement, environment and folder.
CommandOptions postgres_command_options(const ServerOptions& options);

}  // namespace numabench
