#include "reports/metric.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <mutex>

#include "reports/monitor_metrics.h"

namespace numabench {
namespace {

constexpr Better kHigher = Better::kHigher;
constexpr Better kLower = Better::kLower;
constexpr Better kNone = Better::kNone;

std::vector<Metric> make_common_metrics() {
  return {
      {"tps", "1/s", kHigher, 0, "tps", "Transactions of the point clients ÷ window_s."},
      {"scans_per_s", "1/s", kHigher, 2, "scans/s", "Scans that scanners finished ÷ window_s."},
      {"scan_bytes_per_s", "B/s", kHigher, 0, "scan bytes/s",
       "Pages that scanners read × page size ÷ window_s."},
      {"transactions", "", kNone, 0, "transactions",
       "Transactions that point clients finished in the window."},
      {"scans", "", kNone, 0, "scans", "Scans that scanners finished in the window."},

      {"latency_mean_us", "us", kLower, 2, "latency mean",
       "Arithmetic mean of the duration of a transaction."},
      {"latency_stddev_us", "us", kLower, 2, "latency stddev",
       "Standard deviation of the duration of a transaction: embedded, of all; postgres, of those "
       "logged."},
      {"latency_p50_us", "us", kLower, 2, "latency p50",
       "Half of the transactions took no longer."},
      {"latency_p95_us", "us", kLower, 2, "latency p95",
       "95 % of the transactions took no longer."},
      {"latency_p99_us", "us", kLower, 2, "latency p99",
       "99 % of the transactions took no longer."},
      {"latency_p999_us", "us", kLower, 2, "latency p99.9",
       "99.9 % of the transactions took no longer."},
      {"latency_max_us", "us", kLower, 2, "latency max",
       "The longest transaction (postgres: of those logged): a stall that every percentile hides."},
      {"scan_latency_mean_us", "us", kLower, 0, "scan mean",
       "Arithmetic mean of the duration of a scan."},
      {"scan_latency_p50_us", "us", kLower, 0, "scan p50", "Half of the scans took no longer."},
      {"scan_latency_p99_us", "us", kLower, 0, "scan p99", "99 % of the scans took no longer."},
      {"scan_latency_max_us", "us", kLower, 0, "scan max", "The longest scan."},

      {"hit_pct", "%", kHigher, 2, "hit %",
       "100 × (accesses − reads) ÷ accesses, all clients together."},
      {"accesses", "", kNone, 0, "accesses", "Pages that all clients asked the pool for."},
      {"reads", "", kNone, 0, "reads",
       "Accesses that missed; compare it at equal tps, since a faster arm asks for more pages."},
      {"evictions", "", kNone, 0, "evictions", "Victims that held a page when they were taken."},
      {"adv_per_victim", "", kLower, 2, "adv/victim",
       "Advances of the clock hands ÷ victims: ticks that the window took ÷ buffers that the sweep "
       "gave."},
      {"tail", "", kLower, 0, "tail",
       "Most advances of the hand by any single allocation: embedded, with its retries; postgres, "
       "in one call of StrategyGetBuffer, and a retry is a call of its own."},
      {"ticks_p999", "", kLower, 0, "ticks p99.9",
       "99.9 % of the allocations that the sweep served advanced the hand no more often; an "
       "allocation is what it is for the tail."},
      {"ticks_p9999", "", kLower, 0, "ticks p99.99",
       "99.99 % of the allocations that the sweep served advanced the hand no more often; an "
       "allocation is what it is for the tail."},
      {"victims", "", kNone, 0, "victims", "Buffers that the sweep gave."},
      {"laps", "", kNone, 1, "laps",
       "Advances of the clock hands ÷ buffers of the pool; under three, the numbers depend on "
       "where "
       "the hand stood."},
      {"bound_engaged", "", kNone, 0, "bound engaged",
       "Allocations that took a buffer because they had spent the bound on chances."},
      {"retries", "", kNone, 0, "retries",
       "Victims lost to another client between being chosen and being invalidated."},
      {"ring_reuses", "", kNone, 0, "ring reuses",
       "Allocations of scanners served from their own ring, without the sweep."},
      {"occupancy_before_pct", "%", kNone, 1, "occupancy before",
       "100 × buffers that hold a page ÷ buffers, as the window began; below 100 the tail looks "
       "better than it is."},
      {"occupancy_after_pct", "%", kNone, 1, "occupancy after",
       "100 × buffers that hold a page ÷ buffers, as the window ended."},
      {"hot_pages_not_resident", "", kLower, 0, "hot not resident",
       "Pages of the hot set that were not in the pool as the window ended."},
      {"hot_hit_pct", "%", kHigher, 2, "hot hit %",
       "100 × (accesses − reads) ÷ accesses, of pages of the hot set only."},
      {"victims_home", "", kNone, 0, "victims home",
       "Victims from the partition of the client that asked."},
      {"victims_foreign", "", kNone, 0, "victims foreign",
       "Victims from another partition than that of the client that asked."},
      {"huge_page_bytes", "B", kNone, 0, "huge pages",
       "Bytes of the pool that huge pages back, as the kernel reports them."},
      {"client_cpu_s", "s", kNone, 2, "client CPU",
       "User and system CPU time of all clients in the window."},
      {"client_cpu_pct", "%", kNone, 1, "client CPU %",
       "100 × client_cpu_s ÷ (window_s × CPUs that the clients can keep busy: no more than they "
       "may run on, nor than they have threads); near 100 the clients are the bottleneck."},
      {"context_switches_voluntary", "", kNone, 0, "switches voluntary",
       "Times that clients gave up their CPU in the window, mostly to wait."},
      {"context_switches_involuntary", "", kNone, 0, "switches involuntary",
       "Times that the kernel took the CPU from a client in the window."},
      {"window_s", "s", kNone, 2, "window", "Measured length of the window, monotonic clock."},
      {"warmup_s", "s", kNone, 2, "warm-up", "Measured length of the warm-up, monotonic clock."},
      {"working_set_ratio", "", kNone, 2, "ratio",
       "Measured bytes of the tables and indexes touched ÷ bytes of the pool."},
  };
}

std::vector<Metric> make_server_metrics() {
  return {
      {"adv_per_victim_hand", "", kLower, 2, "adv/victim (hand)",
       "From the position of the hand: its way in the window ÷ buffers allocated (evictions where "
       "the server counts them)."},
      {"adv_per_victim_counted", "", kLower, 2, "adv/victim (counted)",
       "From counters compiled into the sweep: ticks ÷ allocations that swept."},
      {"adv_disagreement_pct", "%", kNone, 2, "adv disagreement %",
       "100 × (adv_per_victim_hand ÷ adv_per_victim_counted − 1)."},
      {"buffers_allocated", "", kNone, 0, "allocated",
       "buffers_alloc of pg_stat_bgwriter: buffers that backends asked for."},
      {"heap_blocks_hit", "", kNone, 0, "heap hits", "Blocks of tables found in the pool."},
      {"heap_blocks_read", "", kLower, 0, "heap reads", "Blocks of tables not found in the pool."},
      {"index_blocks_hit", "", kNone, 0, "index hits", "Blocks of indexes found in the pool."},
      {"index_blocks_read", "", kLower, 0, "index reads",
       "Blocks of indexes not found in the pool."},
      {"io_read_operations", "", kNone, 0, "I/O reads",
       "pg_stat_io: read operations of client backends, which may span blocks."},
      {"io_read_bytes", "B", kNone, 0, "I/O read bytes",
       "pg_stat_io: bytes that client backends read."},
      {"io_ring_reuses", "", kNone, 0, "I/O ring reuses",
       "pg_stat_io: buffers that client backends took from their own rings."},
      {"buffers_written_checkpoint", "", kNone, 0, "written by checkpoints",
       "Buffers that checkpoints wrote."},
      {"buffers_written_bgwriter", "", kNone, 0, "written by bgwriter",
       "Buffers that the background writer wrote."},
      {"buffers_written_backend", "", kNone, 0, "written by backends",
       "Buffers that client backends wrote themselves."},
      {"checkpoints", "", kNone, 0, "checkpoints",
       "Checkpoints that were done, timed or asked for."},
      {"usage0_buffers", "", kNone, 0, "usage 0", "Buffers of usage count 0 after the window."},
      {"usage1_buffers", "", kNone, 0, "usage 1", "Buffers of usage count 1 after the window."},
      {"usage2_buffers", "", kNone, 0, "usage 2", "Buffers of usage count 2 after the window."},
      {"usage3_buffers", "", kNone, 0, "usage 3", "Buffers of usage count 3 after the window."},
      {"usage4_buffers", "", kNone, 0, "usage 4", "Buffers of usage count 4 after the window."},
      {"usage5_buffers", "", kNone, 0, "usage 5", "Buffers of usage count 5 after the window."},
      {"waits_none_pct", "%", kNone, 1, "not waiting %",
       "Active clients' backends that waited for nothing, of all seen once a second."},
      {"waits_lwlock_pct", "%", kNone, 1, "waits LWLock %",
       "Active clients' backends that waited for a lightweight lock, of all seen once a second."},
      {"waits_io_pct", "%", kNone, 1, "waits I/O %",
       "Active clients' backends that waited for I/O, of all seen once a second."},
      {"waits_client_pct", "%", kNone, 1, "waits client %",
       "Active clients' backends that waited for their client, of all seen once a second."},
      {"server_cpu_s", "s", kNone, 2, "server CPU",
       "User and system CPU time of all processes of the server in the window."},
      {"server_cpu_pct", "%", kNone, 1, "server CPU %",
       "100 × server_cpu_s ÷ (window_s × CPUs that the server may run on)."},
      {"disk_reads_per_s", "1/s", kNone, 0, "disk IOPS",
       "Reads that the data's block device completed ÷ window_s."},
      {"disk_read_bytes_per_s", "B/s", kNone, 0, "disk bytes/s",
       "Bytes that the data's block device read ÷ window_s."},
      {"disk_utilisation_pct", "%", kNone, 1, "disk busy %",
       "100 × time in which the data's block device had I/O in flight ÷ window_s."},
      {"failed_transactions", "", kLower, 0, "failed",
       "Transactions that pgbench counts as failed, serialization and deadlock failures."},
      {"retried_transactions", "", kLower, 0, "retried", "Transactions that pgbench retried."},
      {"skipped_transactions", "", kLower, 0, "skipped",
       "Transactions that pgbench left out since it was behind its rate."},
      {"connection_ms", "ms", kNone, 1, "connecting",
       "Time that pgbench needed for its initial connections; not part of tps."},
      {"tps_counted", "1/s", kNone, 0, "tps (counted)",
       "tps of the binary with counters in the sweep, measured right after that without."},
      {"counting_overhead_pct", "%", kNone, 2, "counting overhead %",
       "100 × (tps ÷ tps_counted − 1) of the same run."},
  };
}

/// The N of `<prefix><N>`, empty if the name is not of that form.
std::string_view node_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return {};
  const std::string_view node = name.substr(prefix.size());
  const bool digits =
      std::all_of(node.begin(), node.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  const bool canonical = node == "0" || (!node.empty() && node.front() != '0');
  return digits && canonical ? node : std::string_view{};
}

/// nullptr when `name` is no metric of a node. One entry per name ever asked for; a map, so that
/// the pointers handed out stay valid.
const Metric* find_node_metric(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, Metric, std::less<>> metrics;
  for (const NodeMetric& family : node_metrics()) {
    const std::string_view node = node_of(name, family.prefix);
    if (node.empty()) continue;
    const std::lock_guard lock(mutex);
    const auto known = metrics.find(name);
    if (known != metrics.end()) return &known->second;
    const std::string n(node);
    Metric metric{std::string(name),
                  std::string(family.unit),
                  kNone,
                  family.decimals,
                  std::string(family.title) + n,
                  std::string(family.description) + n + "."};
    return &metrics.emplace(name, std::move(metric)).first->second;
  }
  return nullptr;
}

}  // namespace

std::string to_string(Better better) {
  switch (better) {
    case Better::kHigher:
      return "higher";
    case Better::kLower:
      return "lower";
    case Better::kNone:
      break;
  }
  return "none";
}

const std::vector<Metric>& metric_catalogue() {
  static const std::vector<Metric> catalogue = [] {
    std::vector<Metric> all = make_common_metrics();
    std::ranges::copy(server_metrics(), std::back_inserter(all));
    for (const MonitorMetric& entry : monitor_metrics()) all.push_back(entry.metric);
    return all;
  }();
  return catalogue;
}

const std::vector<Metric>& server_metrics() {
  static const std::vector<Metric> metrics = make_server_metrics();
  return metrics;
}

const Metric* find_metric(std::string_view name) {
  if (const Metric* metric = find_node_metric(name)) return metric;
  const auto& catalogue = metric_catalogue();
  const auto found = std::find_if(catalogue.begin(), catalogue.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  return found == catalogue.end() ? nullptr : &*found;
}

const MetricValue* find_value(const std::vector<MetricValue>& values, std::string_view metric) {
  const auto found = std::ranges::find(values, metric, &MetricValue::metric);
  return found == values.end() ? nullptr : &*found;
}

}  // namespace numabench
