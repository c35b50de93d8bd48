// The block device below a directory, and what it has done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace numabench {

struct DiskCounters {
  std::uint64_t reads = 0;  ///< completed
  std::uint64_t bytes_read = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_written = 0;
  double busy_seconds = 0;   ///< with I/O in flight
  double read_seconds = 0;   ///< that the reads took, summed
  double write_seconds = 0;  ///< that the writes took, summed
};

/// "nvme0n1" or "md0": the device of the filesystem that holds `path`, a partition as it is. Empty
/// when it has none of its own (tmpfs, overlay, network).
std::string device_of(const std::string& path);

/// Since boot, from /proc/diskstats below `root`; nullopt when there is no such device.
std::optional<DiskCounters> read_disk_counters(const std::string& device,
                                               const std::string& root = "");

}  // namespace numabench
