// The commands of numabench: each lives in its own *_command.cc and is one line here and in
// main.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace numabench {

/// What main() runs once the command line is parsed; its result is the exit code.
using Command = std::function<int()>;

/// Each adds its subcommand to `app`; the subcommand's callback sets `chosen`.
void add_topology_command(CLI::App& app, Command& chosen);
void add_plan_command(CLI::App& app, Command& chosen);
void add_build_command(CLI::App& app, Command& chosen);
void add_run_command(CLI::App& app, Command& chosen);
void add_resume_command(CLI::App& app, Command& chosen);
void add_status_command(CLI::App& app, Command& chosen);
void add_report_command(CLI::App& app, Command& chosen);
void add_compare_command(CLI::App& app, Command& chosen);
void add_noise_command(CLI::App& app, Command& chosen);
void add_export_command(CLI::App& app, Command& chosen);
void add_config_command(CLI::App& app, Command& chosen);
void add_doctor_command(CLI::App& app, Command& chosen);
void add_probe_command(CLI::App& app, Command& chosen);

/// A subcommand with a description and an example below its --help.
CLI::App* add_subcommand(CLI::App& app, const std::string& name, const std::string& description,
                         const std::string& example);

/// "numabench 0.1.0 (commit), Release, GNU 12.2.0": stored with every experiment.
std::string version_text();

}  // namespace numabench
