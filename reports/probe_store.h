// What `numabench probe` measured of a host, in a results file beside its experiments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace numabench {

/// A figure; a matrix has one for each pair.
struct ProbeRecord {
  std::string name;       ///< "load latency"
  std::string unit;       ///< "ns", "B/s", "1/s", "us"
  std::string from_part;  ///< "node 0", "4 threads", a directory
  std::string to_part;    ///< "node 1"; empty where there is no other side
  std::optional<double> value;
  std::string reason;  ///< why there is no value
};

/// Adds to the results file at `path`, which holds the host already, in one transaction. Throws as
/// Store::open() and Store::add_run().
void add_probes(const std::string& path, std::int64_t host_id, const std::string& measured_at,
                const std::vector<ProbeRecord>& probes);

/// Of one host, as they were added. Throws as Store::open().
std::vector<ProbeRecord> read_probes(const std::string& path, std::int64_t host_id);

}  // namespace numabench
