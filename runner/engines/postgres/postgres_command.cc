#include "runner/engines/postgres/postgres_command.h"

namespace numabench {

std::vector<std::string> postgres_arguments(const ServerOptions& options) {
  std::vector<std::string> arguments{options.postgres, "-D", options.data_directory};
  for (const auto& [name, value] : options.settings) {
    arguments.emplace_back("-c");
    arguments.push_back(name + "=" + value);
  }
  return arguments;
}

CommandOptions postgres_command_options(const ServerOptions& options) {
  CommandOptions command;
  command.placement = options.placement;
  command.user = options.user;
  command.working_directory = options.data_directory;  // ours may be closed to the user
  command.environment = options.environment;
  if (!options.library_directory.empty()) {
    command.environment["LD_LIBRARY_PATH"] = options.library_directory;
  }
  return command;
}

}  // namespace numabench
