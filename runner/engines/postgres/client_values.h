// What pgbench reported of a window, as metrics.
#pragma once

#include <vector>

#include "reports/metric.h"
#include "reports/store.h"
#include "runner/engines/postgres/pgbench.h"
#include "workloads/sql_workload.h"

namespace numabench {

/// Rates, latencies, failures and CPU time of the roles; results[i] is of roles[i]. `cpus`: how
/// many the clients may use.
std::vector<MetricValue> client_values(const std::vector<SqlRole>& roles,
                                       const std::vector<PgbenchRun::Result>& results,
                                       double window_seconds, std::size_t cpus);

/// By second: tps of the point roles, scans_per_s of the scanners.
std::vector<SampleRecord> role_samples(const SqlRole& role, const TransactionLog& log);
std::vector<SampleRecord> client_samples(const std::vector<SqlRole>& roles,
                                         const std::vector<PgbenchRun::Result>& results);

/// Warnings, each with what to do: failed transactions.
std::vector<EventRecord> client_events(const std::vector<SqlRole>& roles,
                                       const std::vector<PgbenchRun::Result>& results);

}  // namespace numabench
