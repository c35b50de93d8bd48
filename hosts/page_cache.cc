#include "hosts/page_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <vector>

#include "hosts/error.h"
#include "hosts/file_descriptor.h"
#include "hosts/system_error.h"
#include "hosts/tree_copy.h"
#include "hosts/units.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBytes = 1 << 20;
constexpr std::size_t kMappedBytes = std::size_t{1} << 30;  // of a file at a time
constexpr std::uint64_t kToleratedShare = 100;              // one in a hundred may stay cached

struct OpenFile {
  int descriptor;
  std::string path;
  std::uint64_t bytes;
};

// Opened for reading one after the other; a file that vanishes meanwhile is left out.
void for_each_file(const std::string& directory, const std::function<void(const OpenFile&)>& use) {
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file() || entry.is_symlink()) continue;
    const std::string path = entry.path();
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file.is_open() && errno == ENOENT) continue;
    struct stat status {};
    if (!file.is_open() || ::fstat(file.get(), &status) != 0) throw_errno("opening " + path);
    use({file.get(), path, static_cast<std::uint64_t>(status.st_size)});
  }
}

std::uint64_t read_to_end(const OpenFile& file, std::vector<char>& buffer) {
  std::uint64_t bytes = 0;
  for (;;) {
    const ssize_t count = ::read(file.descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_errno("reading " + file.path);
    if (count == 0) return bytes;
    bytes += static_cast<std::uint64_t>(count);
  }
}

// Of the `bytes` from `offset`, by a mapping that touches nothing.
std::uint64_t cached_in(const OpenFile& file, std::uint64_t offset, std::size_t bytes) {
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* mapping =
      ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor, static_cast<off_t>(offset));
  if (mapping == MAP_FAILED) throw_errno("mmap of " + file.path);
  std::vector<unsigned char> pages((bytes + page_bytes - 1) / page_bytes);
  const int failed = ::mincore(mapping, bytes, pages.data());
  ::munmap(mapping, bytes);
  if (failed != 0) throw_errno("mincore of " + file.path);
  std::uint64_t cached = 0;
  for (std::size_t page = 0; page < pages.size(); ++page) {
    if ((pages[page] & 1) != 0) cached += std::min(page_bytes, bytes - page * page_bytes);
  }
  return cached;
}

void drop_kernel_caches() {
  const FileDescriptor file(::open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC));
  // A container may not: what fadvise could not drop is then told by the caller.
  if (file.is_open() && ::write(file.get(), "3\n", 2) != 2 && errno != EPERM && errno != EACCES) {
    throw_errno("writing /proc/sys/vm/drop_caches");
  }
}

}  // namespace

std::uint64_t warm_page_cache(const std::string& directory) {
  std::uint64_t bytes = 0;
  std::vector<char> buffer(kReadBytes);
  for_each_file(directory, [&](const OpenFile& file) { bytes += read_to_end(file, buffer); });
  return bytes;
}

std::uint64_t drop_cached_files(const std::string& directory) {
  for_each_file(directory, [](const OpenFile& file) {
    if (::fdatasync(file.descriptor) != 0) throw_errno("writing back " + file.path);
    const int failed = ::posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_DONTNEED);
    if (failed != 0) {
      errno = failed;
      throw_errno("posix_fadvise of " + file.path);
    }
  });
  return cached_bytes(directory);
}

void drop_page_cache(const std::string& directory) {
  drop_cached_files(directory);
  if (::geteuid() == 0) drop_kernel_caches();
  const std::uint64_t cached = cached_bytes(directory);
  const std::uint64_t all = tree_bytes(directory);
  if (cached <= all / kToleratedShare) return;
  throw Error(ErrorKind::kRun,
              fmt::format("{} of {} in {} stay in the page cache",
                          format_bytes(static_cast<double>(cached)),
                          format_bytes(static_cast<double>(all)), directory),
              "a program has them mapped, or the filesystem keeps them (tmpfs); end it, or choose "
              "a data_directory on a disk");
}

std::uint64_t cached_bytes(const std::string& directory) {
  std::uint64_t cached = 0;
  for_each_file(directory, [&](const OpenFile& file) {
    for (std::uint64_t offset = 0; offset < file.bytes; offset += kMappedBytes) {
      cached += cached_in(file, offset, std::min<std::uint64_t>(kMappedBytes, file.bytes - offset));
    }
  });
  return cached;
}

}  // namespace numabench
