#include "runner/engines/postgres/client_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace numabench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

SqlRole point_role() {
  SqlRole role;
  role.name = "clients";
  role.kind = Role::Kind::kPoint;
  role.clients = 24;
  role.pages_per_transaction = 4;
  return role;
}

SqlRole scan_role(int pages) {
  SqlRole role;
  role.name = "scanners";
  role.kind = Role::Kind::kScan;
  role.clients = 2;
  role.pages_per_transaction = pages;
  return role;
}

PgbenchRun::Result result_of(double tps, std::uint64_t transactions) {
  PgbenchRun::Result result;
  result.summary.tps = tps;
  result.summary.transactions = transactions;
  result.summary.latency_mean_ms = 0.25;
  result.summary.connection_ms = 3;
  result.log.latency = LatencySummary{1000, 200, 400, 500, 900, 30'000'000, 501};
  result.cpu_seconds = 4;
  result.voluntary_switches = 10;
  result.involuntary_switches = 1;
  return result;
}

MetricValue find(const std::vector<MetricValue>& values, const std::string& metric) {
  const auto found = std::ranges::find(values, metric, &MetricValue::metric);
  return found == values.end() ? MetricValue::absent(metric, "NOT IN THE LIST") : *found;
}

TEST(ClientValues, AreWhatPgbenchReports) {
  const auto values = client_values({point_role()}, {result_of(1000.5, 10'005)}, 10, 2);
  EXPECT_EQ(find(values, "tps").value, 1000.5);
  EXPECT_EQ(find(values, "transactions").value, 10'005);
  EXPECT_EQ(find(values, "latency_mean_us").value, 250);
  EXPECT_EQ(find(values, "latency_stddev_us").value, 501);
  EXPECT_EQ(find(values, "latency_p99_us").value, 500);
  EXPECT_EQ(find(values, "latency_max_us").value, 30'000'000);  // the stall that p99 hides
  EXPECT_EQ(find(values, "client_cpu_s").value, 4);
  EXPECT_EQ(find(values, "client_cpu_pct").value, 20);  // 4 s of 10 s on 2 CPUs
  EXPECT_EQ(find(values, "connection_ms").value, 3);
}

TEST(ClientValues, TellPointClientsFromScanners) {
  const auto values = client_values({point_role(), scan_role(100)},
                                    {result_of(1000, 10'000), result_of(2, 20)}, 10, 2);
  EXPECT_EQ(find(values, "tps").value, 1000);
  EXPECT_EQ(find(values, "scans_per_s").value, 2);
  EXPECT_EQ(find(values, "scans").value, 20);
  EXPECT_EQ(find(values, "scan_bytes_per_s").value, 20 * 100 * 8192 / 10.0);
  EXPECT_EQ(find(values, "scan_latency_mean_us").value, 250);
  EXPECT_EQ(find(values, "client_cpu_s").value, 8);
}

TEST(ClientValues, SayWhyANumberIsMissing) {
  PgbenchRun::Result old = result_of(10, 100);
  old.summary.connection_ms.reset();
  old.log.latency.reset();
  const auto values = client_values({scan_role(0)}, {old}, 10, 2);
  EXPECT_FALSE(find(values, "tps").value);
  EXPECT_EQ(find(values, "tps").reason, "the workload has no such clients");
  EXPECT_EQ(find(values, "scan_bytes_per_s").reason, "the script's pages are not known");
  EXPECT_EQ(find(values, "scan_latency_p99_us").reason,
            "pgbench logged no transaction of the window");
  EXPECT_THAT(find(values, "connection_ms").reason, HasSubstr("version 14"));
  EXPECT_THAT(find(values, "failed_transactions").reason, HasSubstr("version 15"));
}

TEST(ClientValues, AreAllInTheCatalogue) {
  for (const MetricValue& value : client_values({point_role()}, {result_of(1, 1)}, 1, 1)) {
    EXPECT_NE(find_metric(value.metric), nullptr) << value.metric;
  }
}

TEST(ClientSamples, AreThePointClientsTpsAndTheScannersRate) {
  PgbenchRun::Result points = result_of(1000, 2000);
  points.log.per_second = {990, 1010};
  PgbenchRun::Result scans = result_of(2, 4);
  scans.log.per_second = {2};
  const auto samples = client_samples({point_role(), scan_role(1)}, {points, scans});
  ASSERT_THAT(samples, SizeIs(3));
  EXPECT_EQ(samples[1].metric, "tps");
  EXPECT_EQ(samples[1].t_seconds, 2.0);
  EXPECT_EQ(samples[1].value, 1010);
  EXPECT_EQ(samples[2].metric, "scans_per_s");
}

TEST(ClientEvents, WarnOfFailedTransactions) {
  PgbenchRun::Result result = result_of(1, 1);
  result.summary.failed = 3;
  const auto events = client_events({point_role()}, {result});
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_THAT(events[0].text, HasSubstr("3 transactions of the clients failed"));
}

}  // namespace
}  // namespace numabench
