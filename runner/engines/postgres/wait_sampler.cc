#include <fmt/format.h>

#include <algorithm>

#include "reports/csv.h"
#include "runner/engines/postgres/server_counters.h"

namespace numabench {
namespace {

struct WaitMetric {
  const char* metric;
  const char* type;  ///< wait_event_type; "" for none
};

constexpr WaitMetric kWaitMetrics[] = {{"waits_none_pct", ""},
                                       {"waits_lwlock_pct", "LWLock"},
                                       {"waits_io_pct", "IO"},
                                       {"waits_client_pct", "Client"}};

}  // namespace

void WaitSampler::sample(Connection& connection) {
  const auto rows = connection.query_again(
      "SELECT coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*) "
      "FROM pg_stat_activity "
      "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() GROUP BY 1, 2");
  for (const Connection::Row& row : rows) {
    seen_[{row.at(0).value(), row.at(1).value()}] += std::stoull(row.at(2).value());
  }
}

std::vector<MetricValue> WaitSampler::values() const {
  std::uint64_t all = 0;
  std::map<std::string, std::uint64_t> by_type;
  for (const auto& [event, samples] : seen_) {
    all += samples;
    by_type[event.first] += samples;
  }
  std::vector<MetricValue> values;
  for (const auto& [metric, type] : kWaitMetrics) {
    if (all == 0) {
      values.push_back(MetricValue::absent(metric, "no client was seen in pg_stat_activity"));
      continue;
    }
    values.push_back(MetricValue::of(
        metric, 100.0 * static_cast<double>(by_type[type]) / static_cast<double>(all)));
  }
  return values;
}

std::string WaitSampler::csv() const {
  std::vector<std::pair<std::pair<std::string, std::string>, std::uint64_t>> events(seen_.begin(),
                                                                                    seen_.end());
  std::ranges::stable_sort(events,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string csv = "type,event,samples\n";
  for (const auto& [event, samples] : events) {
    csv += csv_line({event.first, event.second, std::to_string(samples)});
  }
  return csv;
}

}  // namespace numabench
