#include "hosts/doctor/server_versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hosts/error.h"
#include "hosts/process.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

/// "postgres (PostgreSQL) 15.14 (Debian …)" -> "15.14"; empty when the program does not say.
std::string version_of(const fs::path& program) {
  std::error_code ignored;
  if (!fs::exists(program, ignored)) return "";
  try {
    const CommandResult result = run_command({program.string(), "--version"});
    const auto start = result.out.find(") ");
    if (!result.ok() || start == std::string::npos) return "";
    const std::string version = result.out.substr(start + 2);
    return version.substr(0, version.find_first_of(" \n"));
  } catch (const Error&) {
    return "";  // not executable here
  }
}

std::string major(const std::string& version) {
  return version.substr(0, version.find_first_not_of("0123456789"));
}

std::vector<std::string> installed(const std::string& root) {
  std::vector<std::string> folders;
  std::error_code ignored;
  for (const auto& version : fs::directory_iterator(root + "/usr/lib/postgresql", ignored)) {
    folders.push_back(version.path() / "bin");
  }
  for (const auto& entry : fs::directory_iterator(root + "/usr", ignored)) {
    if (entry.path().filename().string().starts_with("pgsql-")) {
      folders.push_back(entry.path() / "bin");
    }
  }
  std::ranges::sort(folders);
  return folders;
}

HostCheck check_of(const std::string& folder) {
  const std::string server = version_of(fs::path(folder) / "postgres");
  const std::string client = version_of(fs::path(folder) / "pgbench");
  HostCheck check{
      .name = "postgres",
      .value = fmt::format("server {}, pgbench {} in {}", server.empty() ? "missing" : server,
                           client.empty() ? "missing" : client, folder),
      .reason = "",
      .wanted = "server and pgbench of one major version",
      .rating = Rating::kOk,
      .why =
          "pgbench's report and its cost a transaction differ between versions: one "
          "binary must load all arms",
      .how = "pgbench: {program: …} in the config names it"};
  if (server.empty() || client.empty() || major(server) != major(client)) {
    check.rating = Rating::kNote;
  }
  return check;
}

}  // namespace

void check_server_versions(CheckList& list) {
  const std::vector<std::string> folders = list.needs.server_directories.empty()
                                               ? installed(list.view.root)
                                               : list.needs.server_directories;
  for (const std::string& folder : folders) list.add(check_of(folder));
  if (!folders.empty()) return;
  list.add({.name = "postgres",
            .value = "none installed",
            .reason = "",
            .wanted = "none for the embedded engine; pgbench for servers that are built here",
            .rating = Rating::kOk,
            .why = "arms that are built bring their own server and pgbench",
            .how = ""});
}

}  // namespace numabench
