#include "runner/engines/postgres/data_root.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "hosts/error.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy = "name another folder as data_directory";

/// What `user` needs to pass through a folder: the x bit that applies to it.
bool may_enter(const struct stat& folder, const User& user) {
  if (user.uid == 0) return true;
  if (folder.st_uid == user.uid) return (folder.st_mode & S_IXUSR) != 0;
  if (folder.st_gid == user.gid) return (folder.st_mode & S_IXGRP) != 0;
  return (folder.st_mode & S_IXOTH) != 0;
}

void require_passable(const fs::path& path, const User& user) {
  fs::path folder;
  for (const fs::path& part : path) {
    folder /= part;
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0 || may_enter(status, user)) continue;
    throw Error(
        ErrorKind::kPreflight,
        fmt::format("user '{}', who runs the servers, cannot enter {}", user.name, folder.string()),
        fmt::format("{}, or let others pass: chmod o+x {}", kRemedy, folder.string()));
  }
}

}  // namespace

std::string data_root_path(const std::string& configured) {
  if (!configured.empty()) return fs::absolute(configured).lexically_normal().string();
  const User user = current_user();
  return user.uid == 0 ? "/var/tmp/numabench" : "/var/tmp/numabench-" + user.name;
}

void prepare_data_root(const std::string& path, const User& server) {
  std::error_code error;
  fs::create_directories(path, error);
  struct stat status {};
  if (error || lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    throw Error(ErrorKind::kPreflight, fmt::format("cannot make the folder {}", path), kRemedy);
  }
  // A folder in a public place that somebody else could have put there, or can change.
  if (status.st_uid != geteuid() || (status.st_mode & S_IWOTH) != 0) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("{} belongs to somebody else or is writable for all", path), kRemedy);
  }
  require_passable(path, server);
}

}  // namespace numabench
