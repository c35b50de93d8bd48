#include "runner/engines/embedded/window_metrics.h"

#include <string>

#include "workloads/dataset.h"

namespace numabench {
namespace {

double cpu_seconds(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double real(std::uint64_t count) { return static_cast<double>(count); }

/// `value()` if there is one, else the reason why not.
template <typename Value>
MetricValue value_if(bool exists, const std::string& metric, Value value,
                     const std::string& reason) {
  return exists ? MetricValue::of(metric, value()) : MetricValue::absent(metric, reason);
}

std::string no_latency_reason(const KindTotals& totals, const std::string& noun) {
  return totals.clients == 0 ? "the workload has no such clients"
                             : "no " + noun + " finished in the window";
}

double hit_pct(std::uint64_t accesses, std::uint64_t reads) {
  return 100.0 * (real(accesses) - real(reads)) / real(accesses);
}

}  // namespace

void WindowMetrics::add(const WorkerSlot& slot, Role::Kind kind) {
  KindTotals& totals = kind == Role::Kind::kPoint ? points_ : scanners_;
  const BackendCounters& counters = slot.window;
  ++totals.clients;
  totals.finished += counters.transactions.get() + counters.scans.get();
  totals.latency_ns.merge(counters.latency_ns);
  sum_.merge(counters);
  cpu_s_ += cpu_seconds(slot.usage_at_end) - cpu_seconds(slot.usage_at_begin);
  voluntary_switches_ += slot.usage_at_end.ru_nvcsw - slot.usage_at_begin.ru_nvcsw;
  involuntary_switches_ += slot.usage_at_end.ru_nivcsw - slot.usage_at_begin.ru_nivcsw;
}

std::vector<MetricValue> WindowMetrics::values(const WindowFacts& facts) const {
  Values values;
  append_rates(values, facts);
  append_latencies(values);
  append_scan_latencies(values);
  append_pool(values, facts);
  append_sweep(values, facts);
  append_hot_set(values, facts);
  append_processes(values, facts);
  return values;
}

void WindowMetrics::append_rates(Values& values, const WindowFacts& facts) const {
  const std::string no_points = "the workload has no point clients";
  const std::string no_scanners = "the workload has no scanners";
  const bool points = points_.clients > 0;
  const bool scanners = scanners_.clients > 0;
  const double transactions = real(points_.finished);
  const double scans = real(scanners_.finished);
  const double scan_bytes = real(sum_.scan_pages.get() * kPageBytes);
  values.push_back(value_if(
      points, "tps", [&] { return transactions / facts.window_s; }, no_points));
  values.push_back(value_if(
      points, "transactions", [&] { return transactions; }, no_points));
  values.push_back(value_if(
      scanners, "scans_per_s", [&] { return scans / facts.window_s; }, no_scanners));
  values.push_back(value_if(
      scanners, "scans", [&] { return scans; }, no_scanners));
  values.push_back(value_if(
      scanners, "scan_bytes_per_s", [&] { return scan_bytes / facts.window_s; }, no_scanners));
  values.push_back(MetricValue::of("window_s", facts.window_s));
}

void WindowMetrics::append_latencies(Values& values) const {
  const Histogram& latency = points_.latency_ns;
  const std::string reason = no_latency_reason(points_, "transaction");
  const auto append = [&](const std::string& metric, double ns) {
    values.push_back(value_if(
        points_.finished > 0, metric, [&] { return ns / 1000; }, reason));
  };
  append("latency_mean_us", latency.mean());
  append("latency_stddev_us", latency.standard_deviation());
  append("latency_p50_us", real(latency.quantile(0.5)));
  append("latency_p95_us", real(latency.quantile(0.95)));
  append("latency_p99_us", real(latency.quantile(0.99)));
  append("latency_p999_us", real(latency.quantile(0.999)));
  append("latency_max_us", real(latency.maximum()));
}

void WindowMetrics::append_scan_latencies(Values& values) const {
  const Histogram& latency = scanners_.latency_ns;
  const std::string reason = no_latency_reason(scanners_, "scan");
  const auto append = [&](const std::string& metric, double ns) {
    values.push_back(value_if(
        scanners_.finished > 0, metric, [&] { return ns / 1000; }, reason));
  };
  append("scan_latency_mean_us", latency.mean());
  append("scan_latency_p50_us", real(latency.quantile(0.5)));
  append("scan_latency_p99_us", real(latency.quantile(0.99)));
  append("scan_latency_max_us", real(latency.maximum()));
}

void WindowMetrics::append_pool(Values& values, const WindowFacts& facts) const {
  const std::uint64_t accesses = sum_.accesses.get();
  values.push_back(value_if(
      accesses > 0, "hit_pct", [&] { return hit_pct(accesses, sum_.reads.get()); },
      "no page was asked for in the window"));
  values.push_back(MetricValue::of("accesses", real(accesses)));
  values.push_back(MetricValue::of("reads", real(sum_.reads.get())));
  values.push_back(MetricValue::of("evictions", real(sum_.evictions.get())));
  values.push_back(MetricValue::of("retries", real(sum_.retries.get())));
  values.push_back(value_if(
      facts.has_rings, "ring_reuses", [&] { return real(sum_.ring_reuses.get()); },
      "the arm has no rings"));
  const auto occupancy = [&](std::uint32_t occupied) { return 100.0 * occupied / facts.buffers; };
  values.push_back(MetricValue::of("occupancy_before_pct", occupancy(facts.occupied_before)));
  values.push_back(MetricValue::of("occupancy_after_pct", occupancy(facts.occupied_after)));
}

void WindowMetrics::append_sweep(Values& values, const WindowFacts& facts) const {
  const std::uint64_t victims = sum_.victims.get();
  const Histogram& ticks = sum_.ticks_per_victim;
  const auto append = [&](const std::string& metric, auto value) {
    values.push_back(
        value_if(victims > 0, metric, value, "the sweep served no allocation in the window"));
  };
  values.push_back(MetricValue::of("victims", real(victims)));
  values.push_back(MetricValue::of("laps", facts.laps));
  append("adv_per_victim", [&] { return real(sum_.ticks.get()) / real(victims); });
  append("tail", [&] { return real(ticks.maximum()); });
  append("ticks_p999", [&] { return real(ticks.quantile(0.999)); });
  append("ticks_p9999", [&] { return real(ticks.quantile(0.9999)); });
  values.push_back(value_if(
      facts.has_bound, "bound_engaged", [&] { return real(sum_.forced.get()); },
      "the arm has no bound"));
  const bool partitioned = facts.partitions > 1;
  const std::string whole = "the sweep is not partitioned";
  values.push_back(value_if(
      partitioned, "victims_home", [&] { return real(sum_.victims_home.get()); }, whole));
  values.push_back(value_if(
      partitioned, "victims_foreign", [&] { return real(sum_.victims_foreign.get()); }, whole));
}

void WindowMetrics::append_hot_set(Values& values, const WindowFacts& facts) const {
  const std::string no_set = "no page of the workload is hotter than another";
  const std::uint64_t accesses = sum_.hot_accesses.get();
  values.push_back(value_if(
      facts.hot_pages > 0, "hot_pages_not_resident",
      [&] { return real(facts.hot_pages_not_resident); }, no_set));
  values.push_back(value_if(
      accesses > 0, "hot_hit_pct", [&] { return hit_pct(accesses, sum_.hot_reads.get()); },
      facts.hot_pages > 0 ? "no page of the hot set was asked for in the window" : no_set));
}

void WindowMetrics::append_processes(Values& values, const WindowFacts& facts) const {
  values.push_back(MetricValue::of("client_cpu_s", cpu_s_));
  values.push_back(
      MetricValue::of("client_cpu_pct", 100.0 * cpu_s_ / (facts.window_s * facts.client_cpus)));
  values.push_back(
      MetricValue::of("context_switches_voluntary", static_cast<double>(voluntary_switches_)));
  values.push_back(
      MetricValue::of("context_switches_involuntary", static_cast<double>(involuntary_switches_)));
}

}  // namespace numabench
