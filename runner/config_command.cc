// `numabench config show`: the expanded experiment with where each value came from.
#include <fmt/format.h>

#include <cstdio>

#include "hosts/topology.h"
#include "runner/command_options.h"
#include "runner/commands.h"
#include "runner/config/load.h"

namespace numabench {
namespace {

int show(const ConfigOptions& options) {
  const LoadedExperiment loaded =
      load_experiment(options.path, Topology::of_this_host(), options.overrides);
  fmt::print("{}", show_config(loaded));
  return 0;
}

}  // namespace

void add_config_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ConfigOptions>();
  CLI::App* config = add_subcommand(app, "config", "Look at configs",
                                    "numabench config show configs/quick.yaml --runs 5");
  config->require_subcommand(1);
  CLI::App* command = add_subcommand(
      *config, "show", "Print the expanded experiment, each value with its origin",
      "numabench config show configs/quick.yaml --set arms.full-series.policy.bound=32");
  options->add_to(*command);
  command->callback([options, &chosen] { chosen = [options] { return show(*options); }; });
}

}  // namespace numabench
