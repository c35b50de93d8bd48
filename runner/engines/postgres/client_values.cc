#include "runner/engines/postgres/client_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/dataset.h"

namespace numabench {
namespace {

constexpr const char* kNoSuchClients = "the workload has no such clients";

/// Results of the roles of one kind, as one.
struct KindTotals {
  int roles = 0;
  double rate = 0;  ///< transactions a second
  std::uint64_t transactions = 0;
  std::uint64_t pages = 0;  ///< asked for, where roles know theirs
  bool pages_known = true;
  const PgbenchRun::Result* result = nullptr;  ///< latencies: a workload has one role of a kind
};

KindTotals totals_of(Role::Kind kind, const std::vector<SqlRole>& roles,
                     const std::vector<PgbenchRun::Result>& results) {
  KindTotals totals;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i].kind != kind) continue;
    const std::uint64_t transactions = results[i].summary.transactions.value_or(0);
    ++totals.roles;
    totals.rate += results[i].summary.tps.value_or(0);
    totals.transactions += transactions;
    totals.pages += transactions * static_cast<std::uint64_t>(roles[i].pages_per_transaction);
    totals.pages_known = totals.pages_known && roles[i].pages_per_transaction > 0;
    totals.result = &results[i];
  }
  return totals;
}

class ValueList {
 public:
  void add(const std::string& metric, double value) {
    values_.push_back(MetricValue::of(metric, value));
  }
  void add(const std::string& metric, std::optional<double> value, const std::string& reason) {
    values_.push_back(value ? MetricValue::of(metric, *value)
                            : MetricValue::absent(metric, reason));
  }
  std::vector<MetricValue> take() { return std::move(values_); }

 private:
  std::vector<MetricValue> values_;
};

/// `value` when the workload has such clients.
template <typename T>
std::optional<double> if_any(const KindTotals& totals, T value) {
  if (totals.roles == 0) return std::nullopt;
  return static_cast<double>(value);
}

std::optional<double> microseconds(const std::optional<double>& milliseconds) {
  if (!milliseconds) return std::nullopt;
  return *milliseconds * 1000;
}

std::optional<double> of_log(const KindTotals& totals, double LatencySummary::*member) {
  if (totals.result == nullptr || !totals.result->log.latency) return std::nullopt;
  return (*totals.result->log.latency).*member;
}

std::string latency_reason(const KindTotals& totals) {
  return totals.roles == 0 ? kNoSuchClients : "pgbench logged no transaction of the window";
}

void add_rates(ValueList& values, const KindTotals& points, const KindTotals& scans,
               double window_seconds) {
  values.add("tps", if_any(points, points.rate), kNoSuchClients);
  values.add("transactions", if_any(points, points.transactions), kNoSuchClients);
  values.add("scans_per_s", if_any(scans, scans.rate), kNoSuchClients);
  values.add("scans", if_any(scans, scans.transactions), kNoSuchClients);
  const double bytes = static_cast<double>(scans.pages) * static_cast<double>(kPageBytes);
  values.add("scan_bytes_per_s",
             scans.pages_known ? if_any(scans, bytes / window_seconds) : std::nullopt,
             scans.roles == 0 ? kNoSuchClients : "the script's pages are not known");
}

void add_latencies(ValueList& values, const KindTotals& points, const KindTotals& scans) {
  const auto mean = [](const KindTotals& totals) {
    return totals.result == nullptr ? std::nullopt
                                    : microseconds(totals.result->summary.latency_mean_ms);
  };
  const std::string reason = latency_reason(points);
  values.add("latency_mean_us", mean(points), reason);
  values.add("latency_stddev_us", of_log(points, &LatencySummary::stddev_us), reason);
  values.add("latency_p50_us", of_log(points, &LatencySummary::p50_us), reason);
  values.add("latency_p95_us", of_log(points, &LatencySummary::p95_us), reason);
  values.add("latency_p99_us", of_log(points, &LatencySummary::p99_us), reason);
  values.add("latency_p999_us", of_log(points, &LatencySummary::p999_us), reason);
  values.add("latency_max_us", of_log(points, &LatencySummary::max_us), reason);
  const std::string scan_reason = latency_reason(scans);
  values.add("scan_latency_mean_us", mean(scans), scan_reason);
  values.add("scan_latency_p50_us", of_log(scans, &LatencySummary::p50_us), scan_reason);
  values.add("scan_latency_p99_us", of_log(scans, &LatencySummary::p99_us), scan_reason);
  values.add("scan_latency_max_us", of_log(scans, &LatencySummary::max_us), scan_reason);
}

/// The sum over roles of what all of them report; else absent.
std::optional<double> sum_of(const std::vector<PgbenchRun::Result>& results,
                             std::optional<std::uint64_t> PgbenchSummary::*member) {
  double sum = 0;
  for (const PgbenchRun::Result& result : results) {
    if (!(result.summary.*member)) return std::nullopt;
    sum += static_cast<double>(*(result.summary.*member));
  }
  return sum;
}

void add_failures(ValueList& values, const std::vector<PgbenchRun::Result>& results) {
  values.add("failed_transactions", sum_of(results, &PgbenchSummary::failed),
             "this pgbench does not report it: needs version 15");
  values.add("retried_transactions", sum_of(results, &PgbenchSummary::retried),
             "pgbench retries only when asked (--max-tries)");
  values.add("skipped_transactions", sum_of(results, &PgbenchSummary::skipped),
             "pgbench skips only at a rate with a latency limit");
}

void add_processes(ValueList& values, const std::vector<PgbenchRun::Result>& results,
                   double window_seconds, std::size_t cpus) {
  double cpu_seconds = 0;
  double voluntary = 0;
  double involuntary = 0;
  std::optional<double> connection_ms;
  for (const PgbenchRun::Result& result : results) {
    cpu_seconds += result.cpu_seconds;
    voluntary += static_cast<double>(result.voluntary_switches);
    involuntary += static_cast<double>(result.involuntary_switches);
    if (result.summary.connection_ms) {
      connection_ms = std::max(connection_ms.value_or(0), *result.summary.connection_ms);
    }
  }
  values.add("client_cpu_s", cpu_seconds);
  values.add("client_cpu_pct", 100 * cpu_seconds / (window_seconds * static_cast<double>(cpus)));
  values.add("context_switches_voluntary", voluntary);
  values.add("context_switches_involuntary", involuntary);
  values.add("connection_ms", connection_ms, "this pgbench does not report it: needs version 14");
}

}  // namespace

std::vector<MetricValue> client_values(const std::vector<SqlRole>& roles,
                                       const std::vector<PgbenchRun::Result>& results,
                                       double window_seconds, std::size_t cpus) {
  const KindTotals points = totals_of(Role::Kind::kPoint, roles, results);
  const KindTotals scans = totals_of(Role::Kind::kScan, roles, results);
  ValueList values;
  add_rates(values, points, scans, window_seconds);
  add_latencies(values, points, scans);
  add_failures(values, results);
  add_processes(values, results, window_seconds, cpus);
  return values.take();
}

std::vector<SampleRecord> client_samples(const std::vector<SqlRole>& roles,
                                         const std::vector<PgbenchRun::Result>& results) {
  std::vector<SampleRecord> samples;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    std::ranges::move(role_samples(roles[i], results[i].log), std::back_inserter(samples));
  }
  return samples;
}

std::vector<SampleRecord> role_samples(const SqlRole& role, const TransactionLog& log) {
  const char* metric = role.kind == Role::Kind::kPoint ? "tps" : "scans_per_s";
  std::vector<SampleRecord> samples;
  double t_seconds = 0;
  for (const double rate : log.per_second) samples.push_back({++t_seconds, metric, rate});
  return samples;
}

std::vector<EventRecord> client_events(const std::vector<SqlRole>& roles,
                                       const std::vector<PgbenchRun::Result>& results) {
  std::vector<EventRecord> events;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const std::uint64_t failed = results[i].summary.failed.value_or(0);
    if (failed == 0) continue;
    events.push_back(
        {"warning", fmt::format("{} transactions of the {} failed and are not part of tps; look "
                                "into the run's artifact pgbench-{}.txt",
                                failed, roles[i].name, roles[i].name)});
  }
  return events;
}

}  // namespace numabench
