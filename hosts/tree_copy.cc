#include "hosts/tree_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "hosts/error.h"
#include "hosts/file_descriptor.h"
#include "hosts/system_error.h"
#include "hosts/units.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkBytes = 16 << 20;
constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks

struct stat status_of(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) throw_errno("lstat of " + path.string());
  return status;
}

// Bytes that the files take on the disk: without their holes.
std::uint64_t allocated_bytes(const fs::path& directory) {
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    bytes += static_cast<std::uint64_t>(status_of(entry.path()).st_blocks) * kBlockBytes;
  }
  return bytes;
}

void require_space(const fs::path& from, const fs::path& to) {
  const std::uint64_t needed = allocated_bytes(from);
  struct statvfs filesystem {};
  if (::statvfs(to.c_str(), &filesystem) != 0) throw_errno("statvfs of " + to.string());
  const std::uint64_t free = filesystem.f_bavail * filesystem.f_frsize;
  if (needed <= free) return;
  throw Error(ErrorKind::kPreflight,
              fmt::format("a copy of {} needs {} and {} are free on the filesystem of {}",
                          from.string(), format_bytes(static_cast<double>(needed)),
                          format_bytes(static_cast<double>(free)), to.string()),
              "free some, or set data_directory to a larger filesystem (XFS and btrfs share blocks "
              "and need none)");
}

// Owner before mode: a change of the owner clears set-user-ID bits.
void keep_attributes(const fs::path& to, const struct stat& status) {
  if (::lchown(to.c_str(), status.st_uid, status.st_gid) != 0 && ::geteuid() == 0) {
    throw_errno("chown of " + to.string());
  }
  if (!S_ISLNK(status.st_mode) && ::chmod(to.c_str(), status.st_mode & 07777) != 0) {
    throw_errno("chmod of " + to.string());
  }
  const std::array<timespec, 2> times{status.st_atim, status.st_mtim};
  if (::utimensat(AT_FDCWD, to.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) {
    throw_errno("utimensat of " + to.string());
  }
}

// One copy of a tree under way.
class TreeCopy {
 public:
  TreeCopy(fs::path from, fs::path to, const std::function<void(std::uint64_t)>& progress)
      : from_(std::move(from)), to_(std::move(to)), progress_(progress) {}

  TreeCopyMethod run() {
    copy_directory(from_, to_);
    return method_.value_or(TreeCopyMethod::kBytes);
  }

 private:
  void copy_directory(const fs::path& from, const fs::path& to) {
    if (::mkdir(to.c_str(), 0700) != 0) throw_errno("mkdir of " + to.string());
    for (const auto& entry : fs::directory_iterator(from)) {
      copy_entry(entry.path(), to / entry.path().filename());
    }
    keep_attributes(to, status_of(from));  // last: the files have changed its time
  }

  void copy_entry(const fs::path& from, const fs::path& to) {
    const struct stat status = status_of(from);
    if (S_ISDIR(status.st_mode)) return copy_directory(from, to);
    if (S_ISLNK(status.st_mode)) {
      fs::copy_symlink(from, to);
    } else if (S_ISREG(status.st_mode)) {
      copy_file(from, to, static_cast<std::uint64_t>(status.st_size));
    } else {
      throw Error(ErrorKind::kRun, from.string() + " is neither a file nor a folder",
                  "a server may be running there");
    }
    keep_attributes(to, status);
  }

  void copy_file(const fs::path& from, const fs::path& to, std::uint64_t bytes) {
    const FileDescriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
    if (!source.is_open()) throw_errno("opening " + from.string());
    const FileDescriptor target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!target.is_open()) throw_errno("making " + to.string());
    if (bytes > 0 && !share_blocks(source.get(), target.get())) {
      copy_bytes(source.get(), target.get(), bytes, to);
    }
  }

  // The first file decides for all, since they are on the same two filesystems.
  bool share_blocks(int source, int target) {
    if (method_ == TreeCopyMethod::kBytes) return false;
    if (::ioctl(target, FICLONE, source) == 0) {
      method_ = TreeCopyMethod::kReflink;
      return true;
    }
    if (method_) throw_errno("ioctl FICLONE");
    method_ = TreeCopyMethod::kBytes;
    require_space(from_, to_);
    return false;
  }

  void copy_bytes(int source, int target, std::uint64_t bytes, const fs::path& to) {
    if (::ftruncate(target, static_cast<off_t>(bytes)) != 0) {
      throw_errno("sizing " + to.string());
    }
    off_t end = 0;
    for (;;) {
      off_t data = ::lseek(source, end, SEEK_DATA);
      if (data < 0 && errno == ENXIO) return;  // a hole up to the end
      if (data < 0) throw_errno("SEEK_DATA for " + to.string());
      end = ::lseek(source, data, SEEK_HOLE);
      if (end < 0) throw_errno("SEEK_HOLE for " + to.string());
      copy_range(source, target, data, end, to);
    }
  }

  void copy_range(int source, int target, off_t at, off_t end, const fs::path& to) {
    off_t target_at = at;
    while (at < end) {
      const auto wanted = std::min<std::size_t>(kChunkBytes, static_cast<std::size_t>(end - at));
      const ssize_t count = ::copy_file_range(source, &at, target, &target_at, wanted, 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw_errno("copying to " + to.string());
      if (count == 0) throw Error(ErrorKind::kRun, "a file became shorter than " + to.string());
      done_ += static_cast<std::uint64_t>(count);
      progress_(done_);
    }
  }

  fs::path from_;
  fs::path to_;
  const std::function<void(std::uint64_t)>& progress_;
  std::optional<TreeCopyMethod> method_;
  std::uint64_t done_ = 0;
};

}  // namespace

std::uint64_t tree_bytes(const std::string& directory) {
  if (!fs::is_directory(directory)) return 0;
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const struct stat status = status_of(entry.path());
    if (S_ISREG(status.st_mode)) bytes += static_cast<std::uint64_t>(status.st_size);
  }
  return bytes;
}

TreeCopyMethod copy_tree(const std::string& from, const std::string& to,
                         const std::function<void(std::uint64_t bytes)>& progress) {
  if (fs::exists(fs::symlink_status(to))) {
    throw Error(ErrorKind::kRun, to + " is there already", "remove it");
  }
  const std::string partial = to + ".partial";
  remove_tree(partial);
  try {
    const TreeCopyMethod method = TreeCopy(from, partial, progress).run();
    fs::rename(partial, to);
    return method;
  } catch (const fs::filesystem_error& error) {
    remove_tree(partial);
    throw Error(ErrorKind::kRun, fmt::format("copying {} failed: {}", from, error.what()));
  } catch (...) {
    remove_tree(partial);
    throw;
  }
}

void remove_tree(const std::string& directory) {
  std::error_code error;
  fs::remove_all(directory, error);
  if (error) {
    throw Error(ErrorKind::kRun, fmt::format("cannot remove {}: {}", directory, error.message()));
  }
}

}  // namespace numabench
