#include "hosts/disk_stats.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <sstream>
#include <system_error>

#include "hosts/files.h"

namespace numabench {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // of /proc/diskstats, whatever the device's own are

}  // namespace

std::string device_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "";
  std::error_code error;
  // "../../devices/pci…/nvme0n1/nvme0n1p1"
  const auto link = std::filesystem::read_symlink(
      fmt::format("/sys/dev/block/{}:{}", major(status.st_dev), minor(status.st_dev)), error);
  return error ? "" : link.filename().string();
}

std::optional<DiskCounters> read_disk_counters(const std::string& device, const std::string& root) {
  std::istringstream lines(read_text_file(root + "/proc/diskstats").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name, skipped;
    fields >> skipped >> skipped >> name;
    if (name != device) continue;
    DiskCounters counters;
    std::uint64_t merged, read_ms, write_ms, sectors_read, sectors_written, in_flight, busy_ms;
    fields >> counters.reads >> merged >> sectors_read >> read_ms;
    fields >> counters.writes >> merged >> sectors_written >> write_ms;
    fields >> in_flight >> busy_ms;
    if (!fields) return std::nullopt;
    counters.bytes_read = sectors_read * kSectorBytes;
    counters.bytes_written = sectors_written * kSectorBytes;
    counters.busy_seconds = static_cast<double>(busy_ms) / 1e3;
    counters.read_seconds = static_cast<double>(read_ms) / 1e3;
    counters.write_seconds = static_cast<double>(write_ms) / 1e3;
    return counters;
  }
  return std::nullopt;
}

}  // namespace numabench
