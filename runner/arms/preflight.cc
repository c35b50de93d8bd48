#include "runner/arms/preflight.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>

#include "hosts/process.h"
#include "hosts/units.h"
#include "runner/arms/build_system.h"

namespace numabench {
namespace {

// Sources, objects with debug information and the installed tree of PostgreSQL 20devel.
constexpr std::uint64_t kBuildBytes = std::uint64_t{2} << 30;

// Where the package has another name than the program; the names are the same on Debian and Fedora.
std::string package_of(const std::string& program) {
  return program == "ninja" ? "ninja-build" : program;
}

}  // namespace

void require_tools(const std::vector<std::string>& programs) {
  std::set<std::string> missing;
  std::set<std::string> packages;
  for (const std::string& program : programs) {
    if (is_installed(program)) continue;
    missing.insert(program);
    packages.insert(package_of(program));
  }
  if (missing.empty()) return;
  throw HostLacks(fmt::format("cannot build PostgreSQL: there is no {}", fmt::join(missing, ", ")),
                  fmt::format("install the packages {}", fmt::join(packages, " ")));
}

void require_space(const std::string& root) {
  const std::uint64_t available = std::filesystem::space(root).available;
  if (available >= kBuildBytes) return;
  throw HostLacks(fmt::format("a build of PostgreSQL takes up to {} and {} has {} left",
                              format_bytes(static_cast<double>(kBuildBytes)), root,
                              format_bytes(static_cast<double>(available))),
                  "free space or name another directory for the builds");
}

std::string compiler_version() {
  if (!is_installed("gcc")) return "";
  const CommandResult result = run_command({"gcc", "--version"});
  return result.out.substr(0, result.out.find('\n'));
}

}  // namespace numabench
