// From the counters of a run's clients to the metrics of its window.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/metric.h"
#include "runner/engines/embedded/run_control.h"
#include "workloads/workload.h"

namespace numabench {

/// Sums over the clients of one kind.
struct KindTotals {
  int clients = 0;
  std::uint64_t finished = 0;  ///< transactions or scans
  Histogram latency_ns;
};

/// What the engine knows of a window beside the clients' counters.
struct WindowFacts {
  double window_s = 0;
  double laps = 0;
  std::uint32_t buffers = 0;
  std::uint32_t occupied_before = 0;
  std::uint32_t occupied_after = 0;
  std::uint64_t hot_pages = 0;
  std::uint64_t hot_pages_not_resident = 0;
  int client_cpus = 0;  ///< CPUs that the clients can keep busy at once
  int partitions = 1;
  bool has_bound = false;
  bool has_rings = false;
};

/// Adds up clients; then values() states every metric, or why there is none.
class WindowMetrics {
 public:
  void add(const WorkerSlot& slot, Role::Kind kind);
  std::vector<MetricValue> values(const WindowFacts& facts) const;

 private:
  using Values = std::vector<MetricValue>;
  void append_rates(Values& values, const WindowFacts& facts) const;
  void append_latencies(Values& values) const;
  void append_scan_latencies(Values& values) const;
  void append_pool(Values& values, const WindowFacts& facts) const;
  void append_sweep(Values& values, const WindowFacts& facts) const;
  void append_hot_set(Values& values, const WindowFacts& facts) const;
  void append_processes(Values& values, const WindowFacts& facts) const;

  KindTotals points_;
  KindTotals scanners_;
  BackendCounters sum_;
  double cpu_s_ = 0;
  std::int64_t voluntary_switches_ = 0;
  std::int64_t involuntary_switches_ = 0;
};

}  // namespace numabench
