// Random reads of a filesystem, by fio.
#pragma once

#include <cstdint>
#include <string>

namespace numabench {

struct StorageProbe {
  std::string directory;
  double reads_per_second = 0;  ///< of 8 KiB, 32 in flight, past the page cache
  double mean_latency_us = 0;
  double p99_latency_us = 0;
};

/// Writes a file of `file_bytes` into `directory`, reads it at random for `seconds` and removes it,
/// also when it fails. Throws
/// Error(kUsage) when that is no directory (never a device), Error(kPreflight) when fio is not
/// installed, Error(kRun) with its message when it fails.
StorageProbe probe_storage(const std::string& directory, double seconds,
                           std::uint64_t file_bytes = 1 << 30);

/// What `fio --output-format=json` says. Throws Error(kRun) when it is not that.
StorageProbe parse_fio(const std::string& json, const std::string& directory);

}  // namespace numabench
