// `numabench build`: the arms of an experiment, from their sources, without a run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "hosts/error.h"
#include "hosts/units.h"
#include "runner/build_stage.h"
#include "runner/command_options.h"
#include "runner/commands.h"
#include "runner/planned_experiment.h"

namespace numabench {
namespace {

using Row = std::vector<std::string>;

// Of hashes in the table; the log and the store have them whole.
constexpr std::size_t kShownHashLength = 12;

std::string time_text(const ArmBuild& build) {
  if (build.inputs.source.starts_with("bindir")) return "installed";
  return build.reused ? "built before" : format_duration(build.build_seconds);
}

std::string ccache_text(const ArmBuild& build) {
  if (build.ccache_hits < 0) return "–";
  return fmt::format("{}/{}", build.ccache_hits, build.ccache_hits + build.ccache_misses);
}

// "git URL 0123456789ab": the hash that a source ends in is cut.
std::string source_text(const std::string& source) {
  const std::size_t last = source.rfind(' ');
  if (last == std::string::npos || source.starts_with("debian")) return source;
  return source.substr(0, last + 1 + kShownHashLength);
}

Row row_of(const ArmBuild& build) {
  return {build.arm,
          build.version,
          source_text(build.inputs.source),
          std::to_string(build.inputs.patches.size()),
          time_text(build),
          ccache_text(build),
          build.counted_postgres.empty() ? "no" : build.counted_method,
          build.build_id.substr(0, kShownHashLength),
          build.log_path};
}

void print_rows(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("{:<{}}  ", row[i], i + 1 == row.size() ? 0 : widths[i]);
    }
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

// The table, and below it what was left out and why.
void print_builds(const std::vector<ArmBuild>& builds) {
  std::vector<Row> rows = {
      {"arm", "version", "source", "patches", "time", "ccache hits", "counted", "build-id", "log"}};
  for (const ArmBuild& build : builds) {
    if (build.failure.empty()) rows.push_back(row_of(build));
  }
  if (rows.size() > 1) print_rows(rows);
  for (const ArmBuild& build : builds) {
    if (!build.failure.empty()) continue;
    if (!build.counted_reason.empty()) {
      fmt::print("arm {} has no counted server: {}\n", build.arm, build.counted_reason);
    }
    if (!build.clock_reason.empty()) {
      fmt::print("arm {} has no clock function: {}\n", build.arm, build.clock_reason);
    }
  }
  for (const std::string& difference : flag_differences(builds)) {
    fmt::print("warning: {}\n", difference);
  }
}

int build(const ConfigOptions& options) {
  const OpenedExperiment opened = open_experiment(options.path, options.overrides);
  const Experiment& experiment = opened.experiment();
  const std::vector<ArmBuild> builds = build_arms(*opened.engine, experiment, experiment.arms);
  if (builds.empty()) {
    fmt::print("the arms of engine {} are settings: there is nothing to build\n",
               experiment.engine);
    return 0;
  }
  print_builds(builds);
  std::vector<std::string> failed;
  for (const ArmBuild& build : builds) {
    if (!build.failure.empty()) failed.push_back(build.arm);
  }
  if (failed.empty()) return 0;
  throw Error(ErrorKind::kRun,
              fmt::format("{} of {} arms could not be built: {}", failed.size(), builds.size(),
                          fmt::join(failed, ", ")),
              "the reasons stand above");
}

}  // namespace

void add_build_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ConfigOptions>();
  CLI::App* command = add_subcommand(
      app, "build", "Build the arms of an experiment from their sources; runs do it too",
      "numabench build configs/second-chance.yaml");
  options->add_to(*command);
  command->callback([options, &chosen] { chosen = [options] { return build(*options); }; });
}

}  // namespace numabench
