#include "runner/engines/postgres/run_directory.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "hosts/error.h"
#include "hosts/system_error.h"
#include "hosts/tree_copy.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

/// The process that made the folder; 0 for a folder of another kind.
pid_t maker_of(std::string_view name, const std::string& prefix) {
  if (!name.starts_with(prefix)) return 0;
  name.remove_prefix(prefix.size());
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && end != name.data() + name.size() && *end == '-' ? pid : 0;
}

/// In a folder for all, as /dev/shm, others have theirs; root's is the user's a moment after it was
/// made.
bool belongs_to_us(const fs::path& path, const User& user) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 &&
         (status.st_uid == user.uid || status.st_uid == geteuid());
}

void remove_abandoned(const fs::path& parent, const std::string& prefix, const User& user) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const pid_t pid = maker_of(entry.path().filename().string(), prefix);
    const bool is_abandoned = pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
    if (is_abandoned && belongs_to_us(entry.path(), user)) remove_tree(entry.path().string());
  }
}

void give_to(const std::string& path, const User& user) {
  if (chmod(path.c_str(), 0700) != 0) throw_errno("chmod of " + path);
  if (geteuid() == 0 && chown(path.c_str(), user.uid, user.gid) != 0) {
    throw_errno("chown of " + path);
  }
}

}  // namespace

RunDirectory::RunDirectory(const std::string& parent, const std::string& prefix, const User& user) {
  fs::create_directories(parent);
  remove_abandoned(parent, prefix, user);
  path_ = fmt::format("{}/{}{}-XXXXXX", parent, prefix, getpid());
  if (mkdtemp(path_.data()) == nullptr) throw_errno("mkdtemp in " + parent);
  give_to(path_, user);
}

RunDirectory::~RunDirectory() {
  try {
    remove_tree(path_);
  } catch (const Error&) {
    // What cannot be removed now is abandoned, and the next run tries again.
  }
}

std::string directory_in_memory(std::uint64_t bytes, const std::string& otherwise) {
  constexpr const char* kMemory = "/dev/shm";
  struct statfs filesystem {};
  if (statfs(kMemory, &filesystem) != 0 || filesystem.f_type != TMPFS_MAGIC) return otherwise;
  if (access(kMemory, W_OK | X_OK) != 0) return otherwise;
  const auto block_bytes = static_cast<std::uint64_t>(filesystem.f_bsize);
  return filesystem.f_bavail * block_bytes >= bytes ? kMemory : otherwise;
}

void make_directory_for(const std::string& path, const User& user) {
  if (mkdir(path.c_str(), 0700) != 0) throw_errno("mkdir of " + path);
  give_to(path, user);
}

}  // namespace numabench
