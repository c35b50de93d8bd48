#include "runner/resources.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "hosts/error.h"
#include "hosts/units.h"

namespace numabench {
namespace {

/// MemAvailable of /proc/meminfo; the largest number when the kernel does not say.
std::uint64_t available_memory_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  while (meminfo >> name >> kib) {
    if (name == "MemAvailable:") return kib * 1024;
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<std::uint64_t>::max();
}

/// Of the filesystem that `path` is on, or will be: the nearest folder above it that exists.
double free_bytes(const std::string& path) {
  std::filesystem::path folder = path;
  std::error_code ignored;
  while (!std::filesystem::exists(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  struct statvfs filesystem {};
  if (statvfs(folder.c_str(), &filesystem) != 0) {
    throw Error(ErrorKind::kPreflight, fmt::format("data_directory '{}' cannot be read", path),
                "create it or name another one");
  }
  return static_cast<double>(filesystem.f_bavail) * static_cast<double>(filesystem.f_frsize);
}

}  // namespace

void check_resources(const Plan& plan) {
  const std::uint64_t memory = available_memory_bytes();
  if (plan.peak_memory_bytes > memory) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("a cell needs {} of memory, {} are available",
                            format_bytes(static_cast<double>(plan.peak_memory_bytes)),
                            format_bytes(static_cast<double>(memory))),
                "choose smaller pools or ratios, or regimes: none");
  }
  if (plan.peak_disk_bytes == 0) return;
  const std::string path = plan.cells.front().estimate.disk_path;
  const double free = free_bytes(path);
  if (static_cast<double>(plan.peak_disk_bytes) > free) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("the data need {} in '{}', {} are free",
                            format_bytes(static_cast<double>(plan.peak_disk_bytes)), path,
                            format_bytes(free)),
                "choose smaller pools or ratios, or another data_directory");
  }
}

}  // namespace numabench
