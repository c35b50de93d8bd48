// Random reads of a filesystem, by fio.
#pragma once

#include <string>

namespace numabench {

struct StorageProbe {
  std::string directory;
  double reads_per_second = 0;  ///< of 8 KiB, 32 in flight, past the page cache
  double mean_latency_us = 0;
  double p99_latency_us = 0;
};

/// Writes a file of 1 GiB into `directory`, reads it at random for `seconds` and removes it. Throws
/// Error(kUsage) when that is no directory (never a device), Error(kPreflight) when fio is not
/// installed, Error(kRun) with its message when it fails.
StorageProbe probe_storage(const std::string& directory, double seconds);

/// What `fio --output-format=json` says. Throws Error(kRun) when it is not that.
StorageProbe parse_fio(const std::string& json, const std::string& directory);

}  // namespace numabench
