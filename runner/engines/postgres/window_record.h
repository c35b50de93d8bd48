// All that is kept of one measured window, and the values that follow from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hosts/disk_stats.h"
#include "runner/engines/engine.h"
#include "runner/engines/postgres/pgbench.h"
#include "runner/engines/postgres/server.h"
#include "runner/engines/postgres/server_counters.h"
#include "runner/engines/postgres/sweep_counters.h"
#include "runner/engines/postgres/window_events.h"
#include "workloads/sql_workload.h"

namespace numabench {

struct WindowRecord {
  bool counted = false;  ///< of the binary with counters in its sweep
  int version_num = 0;
  double window_s = 0;
  ServerCounters before;
  ServerCounters after;
  std::string hand_reason;  ///< why the hand cannot be read; empty when it can
  std::optional<SweepTotals> sweep;
  std::string sweep_reason;  ///< why there are no totals
  PoolContents pool_before;
  PoolContents pool_after;
  std::vector<PoolMemoryRecord> pool_memory;  ///< before and after the window
  double server_cpu_s = 0;
  std::size_t server_cpus = 0;
  std::size_t client_cpus = 0;  ///< that its clients can keep busy at once
  std::string disk;             ///< of the data; empty: none of its own
  std::optional<DiskCounters> disk_before;
  std::optional<DiskCounters> disk_after;
  double cached_share = 0;  ///< of the data directory, in the page cache after the window; 0..1
  WaitSampler waits;
  std::vector<PgbenchRun::Result> clients;  ///< by role
  std::vector<SettingRecord> settings;      ///< that differ from the defaults; as the window ended
  std::vector<SettingRecord> settings_before;
  BackgroundWork background_before;
  std::string command_lines;
  std::string server_log;
  std::vector<EventRecord> events;
  std::vector<PlacementProofRecord> proofs;
  std::vector<Breach> breaches;
};

/// The metrics of a cell: from `first`, and what only counters in the sweep can tell from `counted`
/// (the same record when every run is of the counted binary, nullptr when there is none, with
/// `counted_reason`).
std::vector<MetricValue> record_values(const CellSetup& setup, const SqlWorkload& workload,
                                       const WindowRecord& first, const WindowRecord* counted,
                                       std::uint64_t working_set_bytes);

/// Warnings that follow from the numbers, each with what to do.
std::vector<EventRecord> record_events(const CellSetup& setup, const SqlWorkload& workload,
                                       const WindowRecord& record,
                                       const std::vector<MetricValue>& values);

/// Reports, settings, logs, wait events and histograms of a window; `prefix` tells passes apart.
std::vector<ArtifactRecord> record_artifacts(const WindowRecord& record,
                                             const std::vector<SqlRole>& roles,
                                             const std::string& prefix);

}  // namespace numabench
