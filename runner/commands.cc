#include "runner/commands.h"

#include <fmt/format.h>

#include "runner/version.h"

namespace numabench {

CLI::App* add_subcommand(CLI::App& app, const std::string& name, const std::string& description,
                         const std::string& example) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer("Example: " + example);
  return command;
}

std::string version_text() {
  return fmt::format("numabench {} ({}), {}, {}", NUMABENCH_VERSION, NUMABENCH_COMMIT,
                     NUMABENCH_BUILD_TYPE, NUMABENCH_COMPILER);
}

}  // namespace numabench
