// numabench: parse the arguments, call one command, print one error.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "hosts/error.h"
#include "runner/commands.h"
#include "runner/open_journal.h"

namespace {

using numabench::Command;
using numabench::Error;
using numabench::ErrorKind;

void add_commands(CLI::App& app, Command& chosen) {
  numabench::add_topology_command(app, chosen);
  numabench::add_plan_command(app, chosen);
  numabench::add_build_command(app, chosen);
  numabench::add_run_command(app, chosen);
  numabench::add_resume_command(app, chosen);
  numabench::add_status_command(app, chosen);
  numabench::add_report_command(app, chosen);
  numabench::add_compare_command(app, chosen);
  numabench::add_noise_command(app, chosen);
  numabench::add_export_command(app, chosen);
  numabench::add_config_command(app, chosen);
  numabench::add_doctor_command(app, chosen);
  numabench::add_probe_command(app, chosen);
}

int fail(ErrorKind kind, const std::string& message) {
  fmt::print(stderr, "numabench: {}\n", message);
  return numabench::exit_code(kind);
}

int call(const Command& command) {
  try {
    return command();
  } catch (const Error& error) {
    return fail(error.kind(), error.what());
  } catch (const std::exception& error) {
    return fail(ErrorKind::kInternal, std::string("internal error: ") + error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("numabench: controlled benchmark experiments on NUMA hosts");
  app.footer("Example: numabench run configs/quick.yaml");
  app.require_subcommand(1);
  app.set_version_flag("--version", numabench::version_text());
  Command command;
  add_commands(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    return fail(ErrorKind::kUsage, std::string(error.what()) + "; see numabench --help");
  }
  if (!app.got_subcommand("doctor")) numabench::tell_of_open_journal();
  return call(command);
}
