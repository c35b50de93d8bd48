#include "runner/arms/server_facts.h"

#include <fmt/format.h>

#include <filesystem>
#include <regex>
#include <utility>

#include "hosts/error.h"
#include "hosts/process.h"
#include "runner/patches/text_lines.h"

namespace numabench {

PgConfig::PgConfig(std::string bindir, std::string library_directory)
    : bindir_(std::move(bindir)), library_directory_(std::move(library_directory)) {}

std::string PgConfig::value(const std::string& option) const {
  const std::string program = bindir_ + "/pg_config";
  if (!std::filesystem::exists(program)) return "";
  CommandOptions options;
  if (!library_directory_.empty()) options.environment["LD_LIBRARY_PATH"] = library_directory_;
  const CommandResult result = run_command({program, option}, options);
  const std::string text(trimmed(result.out));
  return result.ok() && text != "not recorded" ? text : "";
}

std::string server_version(const std::string& postgres) {
  const CommandResult result = run_command({postgres, "--version"});
  const std::size_t name = result.out.find("PostgreSQL) ");
  if (!result.ok() || name == std::string::npos) {
    throw Error(ErrorKind::kRun,
                fmt::format("'{}' does not say its version: {}", postgres, trimmed(result.err)),
                "name the folder of a PostgreSQL server's binaries");
  }
  return "PostgreSQL " + std::string(trimmed(result.out.substr(name + 12)));
}

int version_number(const std::string& version) {
  static const std::regex numbers(R"(PostgreSQL (\d+)(?:\.(\d+))?)");
  std::smatch match;
  if (!std::regex_search(version, match, numbers)) return 0;
  const int minor = match[2].matched ? std::stoi(match[2]) : 0;
  return std::stoi(match[1]) * 10000 + minor;
}

}  // namespace numabench
