#include "reports/monitor_metrics.h"

#include <algorithm>

namespace numabench {
namespace {

constexpr Better kNone = Better::kNone;
constexpr Better kLower = Better::kLower;

std::vector<MonitorMetric> processor_metrics() {
  return {
      {{"cpu_busy_pct", "%", kNone, 1, "CPUs busy %",
        "Time of all CPUs that was neither idle nor waiting for I/O, as the host counts it."}},
      {{"cpu_system_pct", "%", kNone, 1, "CPUs in kernel %", "Time of all CPUs in the kernel."}},
      {{"cpu_iowait_pct", "%", kNone, 1, "CPUs in I/O wait %",
        "Time of all CPUs that were idle while I/O was in flight."}},
      {{"cpu_steal_pct", "%", kLower, 1, "CPUs stolen %",
        "Time of all CPUs that the hypervisor gave to others."}},
      {{"cpu_busiest_pct", "%", kNone, 1, "busiest CPU %", "The busiest single CPU."}},
      {{"cpu_idlest_pct", "%", kNone, 1, "idlest CPU %", "The idlest single CPU."}},
      {{"run_queue", "", kNone, 1, "run queue", "Processes that ran or could have run."}},
      {{"host_switches_per_s", "1/s", kNone, 0, "host switches/s",
        "Context switches of all of the host."}},
      {{"interrupts_per_s", "1/s", kNone, 0, "interrupts/s", "Interrupts of all of the host."}},
      {{"frequency_mhz", "MHz", kNone, 0, "frequency MHz",
        "Mean frequency of the CPUs that the run may use."}},
      {{"frequency_moved_pct", "%", kLower, 1, "frequency moved %",
        "100 × (highest − lowest frequency_mhz of the window so far) ÷ highest."},
       Fold::kMaximum},
      {{"throttle_events", "", kLower, 0, "throttled",
        "Times that a core or a package was throttled for its heat."},
       Fold::kSum},
      {{"temperature_c", "°C", kNone, 0, "temperature °C", "The hottest thermal zone."},
       Fold::kMaximum},
      {{"clocksource_changes", "", kLower, 0, "clock source changes",
        "Changes of the kernel's clock source."},
       Fold::kSum},
      {{"wall_clock_jump_s", "s", kLower, 3, "wall clock jump",
        "How far the wall clock moved against the monotonic one from one look to the next."},
       Fold::kMaximum},
  };
}

std::vector<MonitorMetric> memory_metrics() {
  return {
      {{"memory_available_bytes", "B", kNone, 0, "memory available",
        "MemAvailable of /proc/meminfo."},
       Fold::kMinimum},
      {{"page_cache_bytes", "B", kNone, 0, "page cache", "Cached of /proc/meminfo."}},
      {{"dirty_bytes", "B", kNone, 0, "dirty", "Dirty of /proc/meminfo."}},
      {{"huge_pages_free", "", kNone, 0, "huge pages free", "HugePages_Free of /proc/meminfo."}},
      {{"swap_used_bytes", "B", kLower, 0, "swap used", "SwapTotal − SwapFree of /proc/meminfo."},
       Fold::kMaximum},
      {{"swapped_pages", "", kLower, 0, "pages swapped", "Pages swapped in or out, of the host."},
       Fold::kSum},
      {{"oom_kills", "", kLower, 0, "OOM kills",
        "Processes that the kernel killed for want of memory."},
       Fold::kSum},
      {{"major_faults_per_s", "1/s", kNone, 1, "major faults/s",
        "Page faults of the host that read from a disk."}},
      {{"numa_hits_per_s", "1/s", kNone, 0, "NUMA hits/s",
        "Pages that were allocated on the node meant for them."}},
      {{"numa_misses_per_s", "1/s", kLower, 0, "NUMA misses/s",
        "Pages that were allocated on another node than the one meant for them."}},
      {{"numa_hint_faults_per_s", "1/s", kNone, 0, "NUMA hint faults/s",
        "Faults that NUMA balancing provoked."}},
      {{"numa_migrations_per_s", "1/s", kLower, 0, "NUMA migrations/s",
        "Pages that NUMA balancing moved."}},
      {{"page_migrations_per_s", "1/s", kNone, 0, "page migrations/s",
        "Pages that were moved, for whatever reason."}},
      {{"thp_faults_per_s", "1/s", kNone, 1, "THP faults/s",
        "Transparent huge pages that faults allocated."}},
      {{"thp_collapses_per_s", "1/s", kNone, 1, "THP collapses/s",
        "Transparent huge pages that khugepaged put together."}},
      {{"thp_splits_per_s", "1/s", kNone, 1, "THP splits/s", "Huge pages that were split."}},
  };
}

std::vector<MonitorMetric> disk_metrics() {
  return {
      {{"disk_writes_per_s", "1/s", kNone, 0, "disk writes/s",
        "Writes that the data's block device completed."}},
      {{"disk_write_bytes_per_s", "B/s", kNone, 0, "disk write bytes/s",
        "Bytes that the data's block device wrote."}},
      {{"disk_read_latency_ms", "ms", kNone, 2, "disk read latency",
        "Time of reads of the data's block device ÷ reads."}},
      {{"disk_write_latency_ms", "ms", kNone, 2, "disk write latency",
        "Time of writes of the data's block device ÷ writes."}},
      {{"disk_free_pct", "%", kNone, 1, "disk free %",
        "Free space of the data's filesystem for those who write there."},
       Fold::kMinimum},
  };
}

std::vector<MonitorMetric> process_metrics() {
  return {
      {{"other_cpu_pct", "%", kLower, 1, "other load %",
        "Time of all CPUs that other processes, interrupts and the hypervisor used: all but idle "
        "time, the run's processes and numabench."}},
      {{"monitor_cpu_pct", "%", kLower, 2, "monitor CPU %",
        "CPU time of numabench's monitors, in percent of one CPU."}},
      {{"server_processes", "", kNone, 0, "server processes", "Processes of the server."}},
      {{"server_rss_bytes", "B", kNone, 0, "server RSS",
        "Largest resident set of a process of the server, the pool it touched included."},
       Fold::kMaximum},
      {{"server_private_bytes", "B", kNone, 0, "server private",
        "Resident memory of the server's processes that is not shared, summed."},
       Fold::kMaximum},
      {{"server_pss_bytes", "B", kNone, 0, "server PSS",
        "Proportional set sizes of the server's processes, summed."},
       Fold::kMaximum},
      {{"client_private_bytes", "B", kNone, 0, "client private",
        "Resident memory of the clients' processes that is not shared, summed."},
       Fold::kMaximum},
      {{"stopped_processes", "", kLower, 0, "stopped",
        "Processes of the run that were stopped or traced."},
       Fold::kMaximum},
  };
}

std::vector<MonitorMetric> perf_metrics() {
  return {
      {{"perf_cycles_per_s", "1/s", kNone, 0, "cycles/s",
        "CPU cycles of the server (of the clients where there is none apart)."}},
      {{"perf_instructions_per_s", "1/s", kNone, 0, "instructions/s",
        "Instructions of the server (of the clients where there is none apart)."}},
      {{"perf_ipc", "", kNone, 2, "IPC",
        "Instructions ÷ cycles of the server (of the clients where there is none apart)."}},
      {{"perf_llc_loads_per_s", "1/s", kNone, 0, "LLC loads/s",
        "Loads that reached the last-level cache."}},
      {{"perf_llc_misses_per_s", "1/s", kNone, 0, "LLC misses/s",
        "Loads that the last-level cache did not have."}},
      {{"perf_node_loads_per_s", "1/s", kNone, 0, "node loads/s", "Loads from memory."}},
      {{"perf_node_misses_per_s", "1/s", kNone, 0, "node misses/s",
        "Loads from the memory of another node."}},
      {{"perf_local_dram_loads_per_s", "1/s", kNone, 0, "local DRAM/s",
        "Loads (on AMD: cache fills) that the memory of the CPU's own node answered."}},
      {{"perf_remote_dram_loads_per_s", "1/s", kNone, 0, "remote DRAM/s",
        "Loads (on AMD: cache fills) that the memory of another node answered."}},
      {{"perf_local_hitm_loads_per_s", "1/s", kNone, 0, "local HITM/s",
        "Loads of lines that another core of the package had modified."}},
      {{"perf_remote_hitm_loads_per_s", "1/s", kNone, 0, "remote HITM/s",
        "Loads of lines that a core of another package had modified."}},
      {{"perf_page_faults_per_s", "1/s", kNone, 0, "page faults/s",
        "Page faults of the server (of the clients where there is none apart)."}},
      {{"perf_migrations_per_s", "1/s", kNone, 1, "CPU migrations/s",
        "Times that a process of the server (a client where there is none apart) changed its "
        "CPU."}},
  };
}

/// What rules and the test for a steady state work on; worked out from the rest of a run.
std::vector<MonitorMetric> condition_metrics() {
  return {
      {{"server_age_s", "s", kNone, 1, "server age",
        "From the start of the run's server to the start of its window."}},
      {{"working_set_off_pct", "%", kLower, 1, "working set off %",
        "100 × |working_set_ratio ÷ the planned one − 1|."}},
      {{"huge_pages_missing_bytes", "B", kLower, 0, "huge pages missing",
        "Bytes of a pool that was to have huge pages which none back."}},
      {{"load_generator_pct", "%", kLower, 1, "load generator %",
        "client_cpu_pct of clients that have a server apart from them."}},
      {{"finished_work", "", kNone, 0, "finished work",
        "Transactions and scans, and where none of those finished, pages that scanners read."}},
      {{"tps_drift_pct", "%", kNone, 1, "tps drift %",
        "100 × Theil and Sen's slope of the seconds' tps × their number ÷ their median."}},
      {{"tps_drift_p", "", kNone, 4, "tps drift p",
        "Mann and Kendall's p that there is no drift."}},
      {{"tps_step_pct", "%", kNone, 1, "tps step %",
        "100 × (median of tps behind the likeliest change point ÷ the median before it − 1)."}},
      {{"tps_step_p", "", kNone, 4, "tps step p", "Pettitt's p that there is no change point."}},
      {{"tps_step_at_s", "s", kNone, 0, "tps step at",
        "Where in the window the likeliest change point is."}},
  };
}

}  // namespace

const std::vector<MonitorMetric>& monitor_metrics() {
  static const std::vector<MonitorMetric> kMetrics = [] {
    std::vector<MonitorMetric> all;
    for (const auto& part : {processor_metrics(), memory_metrics(), disk_metrics(),
                             process_metrics(), perf_metrics(), condition_metrics()}) {
      std::ranges::copy(part, std::back_inserter(all));
    }
    return all;
  }();
  return kMetrics;
}

const std::vector<NodeMetric>& node_metrics() {
  static const std::vector<NodeMetric> kMetrics = {
      {"pool_bytes_node", "B", 0, "pool on node ",
       "Bytes of the pool, as the kernel reports them after the window, whose pages are on NUMA "
       "node "},
      {"busy_pct_node", "%", 1, "busy % of node ",
       "Time of the CPUs that was neither idle nor waiting for I/O, of NUMA node "},
      {"memory_free_bytes_node", "B", 0, "memory free on node ", "MemFree of NUMA node "},
      {"page_cache_bytes_node", "B", 0, "page cache on node ", "FilePages of NUMA node "},
      {"numa_hits_per_s_node", "1/s", 0, "NUMA hits/s on node ",
       "Pages a second that were meant for and allocated on NUMA node "},
      {"numa_misses_per_s_node", "1/s", 0, "NUMA misses/s on node ",
       "Pages a second that were meant for another node and allocated on NUMA node "},
      {"numa_remote_per_s_node", "1/s", 0, "remote/s on node ",
       "Pages a second that processes of other nodes allocated on NUMA node "},
  };
  return kMetrics;
}

Fold fold_of(std::string_view name) {
  const auto found = std::ranges::find_if(
      monitor_metrics(), [&](const MonitorMetric& entry) { return entry.metric.name == name; });
  return found == monitor_metrics().end() ? Fold::kMean : found->fold;
}

}  // namespace numabench
