#include "runner/engines/postgres/window_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "hosts/units.h"
#include "reports/csv.h"
#include "runner/engines/pool_memory.h"
#include "runner/engines/postgres/client_values.h"
#include "workloads/dataset.h"

namespace numabench {
namespace {

using Values = std::vector<MetricValue>;

constexpr double kEnoughLaps = 3;
constexpr double kMostlyCached = 0.9;
constexpr double kAdvTolerancePct = 1;
constexpr std::size_t kUsageCounts = 6;

void append(Values& values, Values more) { std::ranges::move(more, std::back_inserter(values)); }

/// The value of a metric that is in `values`; nullopt when it is absent there.
std::optional<double> value_of(const Values& values, const std::string& metric) {
  const MetricValue* found = find_value(values, metric);
  return found == nullptr ? std::nullopt : found->value;
}

std::string reason_of(const Values& values, const std::string& metric) {
  const MetricValue* found = find_value(values, metric);
  return found == nullptr ? "not measured" : found->reason;
}

double share_pct(std::uint64_t part, std::uint64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

Values pool_values(const WindowRecord& record) {
  Values values;
  values.push_back(MetricValue::of("occupancy_before_pct",
                                   share_pct(record.pool_before.used, record.pool_before.buffers)));
  values.push_back(MetricValue::of("occupancy_after_pct",
                                   share_pct(record.pool_after.used, record.pool_after.buffers)));
  const std::vector<std::uint64_t>& by_usage = record.pool_after.by_usage;
  for (std::size_t usage = 0; usage < kUsageCounts; ++usage) {
    const double buffers = usage < by_usage.size() ? static_cast<double>(by_usage[usage]) : 0;
    values.push_back(MetricValue::of(fmt::format("usage{}_buffers", usage), buffers));
  }
  return values;
}

Values process_values(const WindowRecord& record) {
  const double share =
      record.server_cpu_s / (record.window_s * static_cast<double>(record.server_cpus));
  return {MetricValue::of("server_cpu_s", record.server_cpu_s),
          MetricValue::of("server_cpu_pct", 100 * share)};
}

std::vector<PoolMemoryRecord> memory_after(const WindowRecord& record) {
  std::vector<PoolMemoryRecord> after;
  std::ranges::copy_if(record.pool_memory, std::back_inserter(after), [](const auto& memory) {
    return memory.moment == PoolMemoryRecord::Moment::kAfter;
  });
  return after;
}

Values disk_values(const WindowRecord& record) {
  const std::string reason = "the data's filesystem has no block device of its own";
  if (!record.disk_before || !record.disk_after) {
    return {MetricValue::absent("disk_reads_per_s", reason),
            MetricValue::absent("disk_read_bytes_per_s", reason),
            MetricValue::absent("disk_utilisation_pct", reason)};
  }
  const auto rate = [&](std::uint64_t DiskCounters::*member) {
    return static_cast<double>((*record.disk_after).*member - (*record.disk_before).*member) /
           record.window_s;
  };
  const double busy = record.disk_after->busy_seconds - record.disk_before->busy_seconds;
  return {MetricValue::of("disk_reads_per_s", rate(&DiskCounters::reads)),
          MetricValue::of("disk_read_bytes_per_s", rate(&DiskCounters::bytes_read)),
          MetricValue::of("disk_utilisation_pct", 100 * busy / record.window_s)};
}

Values counted_values(const WindowRecord& first, const WindowRecord* counted) {
  if (counted != nullptr) return sweep_values(*counted->sweep);
  Values values;
  for (const char* metric :
       {"adv_per_victim_counted", "tail", "ticks_p999", "ticks_p9999", "victims"}) {
    values.push_back(MetricValue::absent(metric, first.sweep_reason));
  }
  return values;
}

/// The exact number where there is one, else the hand's; and how far apart they are. The hand is of
/// the same window as the counters.
Values adv_values(const Values& values, const Values& hand_of_counted) {
  const std::optional<double> exact = value_of(values, "adv_per_victim_counted");
  const std::optional<double> hand = value_of(values, "adv_per_victim_hand");
  const std::optional<double> same_hand = value_of(hand_of_counted, "adv_per_victim_hand");
  Values result;
  if (exact || hand) {
    result.push_back(MetricValue::of("adv_per_victim", exact ? *exact : *hand));
  } else {
    result.push_back(
        MetricValue::absent("adv_per_victim", reason_of(values, "adv_per_victim_hand")));
  }
  if (exact && same_hand && *exact > 0) {
    result.push_back(MetricValue::of("adv_disagreement_pct", 100 * (*same_hand / *exact - 1)));
  } else {
    result.push_back(MetricValue::absent("adv_disagreement_pct", "only one of the two is known"));
  }
  return result;
}

Values overhead_values(const SqlWorkload& workload, const Values& values, const WindowRecord& first,
                       const WindowRecord* counted) {
  if (counted == nullptr || counted == &first) {
    const std::string reason = "the arm was not measured with and without counters";
    return {MetricValue::absent("tps_counted", reason),
            MetricValue::absent("counting_overhead_pct", reason)};
  }
  const Values with =
      client_values(workload.roles, counted->clients, counted->window_s, counted->client_cpus);
  const std::optional<double> plain_tps = value_of(values, "tps");
  const std::optional<double> counted_tps = value_of(with, "tps");
  if (!plain_tps || !counted_tps || *counted_tps <= 0) {
    const std::string reason = reason_of(with, "tps");
    return {MetricValue::absent("tps_counted", reason),
            MetricValue::absent("counting_overhead_pct", reason)};
  }
  return {MetricValue::of("tps_counted", *counted_tps),
          MetricValue::of("counting_overhead_pct", 100 * (*plain_tps / *counted_tps - 1))};
}

Values hand_values(const CellSetup& setup, const WindowRecord& record) {
  return window_values(record.before, record.after, record.version_num,
                       setup.pool_bytes / kPageBytes, record.hand_reason);
}

std::string laps_warning(const Values& values) {
  const std::optional<double> laps = value_of(values, "laps");
  if (!laps || *laps >= kEnoughLaps) return "";
  return fmt::format(
      "the hand made {:.2f} laps in the window, so the numbers depend on where it stood; measure "
      "longer or give the duration in laps (3 or more)",
      *laps);
}

std::string cache_warning(const CellSetup& setup, const WindowRecord& record) {
  if (setup.regime != Regime::kRealIo || record.cached_share < kMostlyCached) return "";
  return fmt::format(
      "{:.0f} % of the data were in the page cache after the window, so most misses were copies "
      "of memory; use more data than memory, or direct I/O (debug_io_direct: data, 16 and later)",
      100 * record.cached_share);
}

std::string disagreement_warning(const Values& values) {
  const std::optional<double> pct = value_of(values, "adv_disagreement_pct");
  if (!pct || std::abs(*pct) <= kAdvTolerancePct) return "";
  return fmt::format(
      "adv/victim from the hand is {:+.1f} % off the counted one: a pool that was not full, or a "
      "batched sweep; believe the counted one",
      *pct);
}

std::string ring_warning(const SqlWorkload& workload, const Values& values) {
  const std::optional<double> reuses = value_of(values, "io_ring_reuses");
  if (!workload.partitioned_scan || !reuses || *reuses == 0) return "";
  return fmt::format(
      "scans took {:.0f} buffers from rings of their own instead of the sweep; use more "
      "partitions",
      *reuses);
}

std::string settings_csv(const std::vector<SettingRecord>& settings) {
  std::string text = "name,value,default,source\n";
  for (const SettingRecord& setting : settings) {
    text += csv_line({setting.name, setting.value, setting.default_value, setting.source});
  }
  return text;
}

}  // namespace

std::vector<MetricValue> record_values(const CellSetup& setup, const SqlWorkload& workload,
                                       const WindowRecord& first, const WindowRecord* counted,
                                       std::uint64_t working_set_bytes) {
  Values values = client_values(workload.roles, first.clients, first.window_s, first.client_cpus);
  values.push_back(MetricValue::of("window_s", first.window_s));
  append(values, hand_values(setup, first));
  append(values, counted_values(first, counted));
  append(values, adv_values(values, hand_values(setup, counted == nullptr ? first : *counted)));
  append(values, overhead_values(workload, values, first, counted));
  append(values, pool_values(first));
  append(values, process_values(first));
  append(values, disk_values(first));
  append(values, first.waits.values());
  append(values, pool_memory_values(memory_after(first)));
  values.push_back(MetricValue::of("working_set_ratio", static_cast<double>(working_set_bytes) /
                                                            static_cast<double>(setup.pool_bytes)));
  return values;
}

std::vector<EventRecord> record_events(const CellSetup& setup, const SqlWorkload& workload,
                                       const WindowRecord& record, const Values& values) {
  std::vector<EventRecord> events = client_events(workload.roles, record.clients);
  for (const std::string& warning :
       {laps_warning(values), cache_warning(setup, record), disagreement_warning(values),
        ring_warning(workload, values)}) {
    if (!warning.empty()) events.push_back({"warning", warning});
  }
  return events;
}

std::vector<ArtifactRecord> record_artifacts(const WindowRecord& record,
                                             const std::vector<SqlRole>& roles,
                                             const std::string& prefix) {
  std::vector<ArtifactRecord> artifacts = {{prefix + "settings.csv", settings_csv(record.settings)},
                                           {prefix + "commands.txt", record.command_lines},
                                           {prefix + "server.log", record.server_log},
                                           {prefix + "waits.csv", record.waits.csv()}};
  if (record.sweep) {
    artifacts.push_back({prefix + "sweep-histogram.csv", histogram_csv(*record.sweep)});
  }
  for (std::size_t i = 0; i < roles.size(); ++i) {
    artifacts.push_back({fmt::format("{}pgbench-{}.txt", prefix, roles[i].name),
                         record.clients[i].report + record.clients[i].error_output});
  }
  return artifacts;
}

}  // namespace numabench
