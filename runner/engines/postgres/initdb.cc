#include "runner/engines/postgres/initdb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <vector>

#include "hosts/error.h"
#include "hosts/files.h"
#include "hosts/process.h"

namespace numabench {
namespace {

constexpr std::chrono::hours kSyncLimit{1};
constexpr int kFirstWithSet = 160000;
constexpr int kFirstWithChecksums = 180000;  // on unless told otherwise

const std::vector<std::string>& initdb_options() {
  static const std::vector<std::string> options{"--username=postgres", "--auth=trust",
                                                "--encoding=UTF8", "--locale=C", "--no-sync"};
  return options;
}

/// Runs `arguments` on a data directory as its user; what it printed.
std::string run_on_data(const ArmBuild& build, const User& user, const std::string& directory,
                        const std::vector<std::string>& arguments,
                        std::chrono::milliseconds timeout = std::chrono::minutes(5)) {
  CommandOptions options;
  options.user = user;
  options.working_directory = std::filesystem::path(directory).parent_path();
  options.timeout = timeout;
  if (!build.library_directory.empty()) {
    options.environment["LD_LIBRARY_PATH"] = build.library_directory;
  }
  const CommandResult result = run_command(arguments, options);
  if (result.ok()) return result.out;
  std::string words = result.err;
  std::ranges::replace(words, '\n', ' ');
  throw Error(ErrorKind::kRun, fmt::format("{} {}: {}", arguments.front(),
                                           result.timed_out ? "took too long" : "failed", words));
}

}  // namespace

std::string initdb_options_text() {
  std::string text = "no checksums";
  for (const std::string& option : initdb_options()) text += " " + option;
  return text;
}

void initialise(const ArmBuild& build, const User& user, const std::string& directory) {
  std::vector<std::string> arguments{build.bindir + "/initdb", "-D", directory};
  arguments.insert(arguments.end(), initdb_options().begin(), initdb_options().end());
  if (build.version_num >= kFirstWithSet) arguments.emplace_back("--set=huge_pages=off");
  if (build.version_num >= kFirstWithChecksums) arguments.emplace_back("--no-data-checksums");
  run_on_data(build, user, directory, arguments);
}

DataFormat data_format(const ArmBuild& build, const User& user, const std::string& directory) {
  const std::string text =
      run_on_data(build, user, directory, {build.bindir + "/pg_controldata", "-D", directory});
  static constexpr std::array kLabels{"pg_control version number",
                                      "Catalog version number",
                                      "Database block size",
                                      "Blocks per segment of large relation",
                                      "WAL block size",
                                      "Bytes per WAL segment",
                                      "Data page checksum version"};
  DataFormat format;
  for (const char* label : kLabels) {
    format.description +=
        fmt::format("{}: {}\n", label, labelled_value(text, label).value_or("not known"));
  }
  const auto version = labelled_value(text, "Catalog version number");
  if (!version) {
    throw Error(ErrorKind::kRun, fmt::format("pg_controldata names no catalog version: {}", text));
  }
  format.catalog_version = *version;
  return format;
}

void sync_data(const ArmBuild& build, const User& user, const std::string& directory) {
  run_on_data(build, user, directory, {build.bindir + "/initdb", "--sync-only", "-D", directory},
              kSyncLimit);
}

}  // namespace numabench
