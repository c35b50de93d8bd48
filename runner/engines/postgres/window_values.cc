#include <fmt/format.h>

#include "runner/engines/postgres/server_counters.h"

namespace numabench {
namespace {

using Counter = std::optional<std::uint64_t>;
using Member = Counter ServerCounters::*;

constexpr const char* kReset =
    "the server's counters went backwards in the window: reset by others";
constexpr const char* kNeedsPgStatIo = "pg_stat_io needs PostgreSQL 16";

struct CounterMetric {
  const char* metric;
  Member counter;
};

constexpr CounterMetric kCounterMetrics[] = {
    {"heap_blocks_hit", &ServerCounters::heap_hit},
    {"heap_blocks_read", &ServerCounters::heap_read},
    {"index_blocks_hit", &ServerCounters::index_hit},
    {"index_blocks_read", &ServerCounters::index_read},
    {"buffers_allocated", &ServerCounters::buffers_allocated},
    {"evictions", &ServerCounters::evictions},
    {"io_read_operations", &ServerCounters::io_reads},
    {"io_read_bytes", &ServerCounters::io_read_bytes},
    {"io_ring_reuses", &ServerCounters::io_reuses},
    {"buffers_written_checkpoint", &ServerCounters::written_checkpoint},
    {"buffers_written_bgwriter", &ServerCounters::written_bgwriter},
    {"buffers_written_backend", &ServerCounters::written_backend},
    {"checkpoints", &ServerCounters::checkpoints},
};

/// What was counted between two looks.
class Window {
 public:
  Window(const ServerCounters& before, const ServerCounters& after)
      : before_(before), after_(after) {}

  Counter grown(Member counter) const {
    const Counter& from = before_.*counter;
    const Counter& to = after_.*counter;
    if (!from || !to || *to < *from) return std::nullopt;
    return *to - *from;
  }
  bool went_backwards(Member counter) const {
    return before_.*counter && after_.*counter && *(after_.*counter) < *(before_.*counter);
  }
  /// Of a counter that did not grow(): why.
  std::string reason(Member counter) const {
    return went_backwards(counter) ? kReset : kNeedsPgStatIo;
  }

 private:
  const ServerCounters& before_;
  const ServerCounters& after_;
};

MetricValue value_of(const char* metric, std::uint64_t number) {
  return MetricValue::of(metric, static_cast<double>(number));
}

Counter sum(Counter a, Counter b) { return a && b ? Counter(*a + *b) : std::nullopt; }

void add_hits(const Window& window, std::vector<MetricValue>& values) {
  const Counter hits =
      sum(window.grown(&ServerCounters::heap_hit), window.grown(&ServerCounters::index_hit));
  const Counter reads =
      sum(window.grown(&ServerCounters::heap_read), window.grown(&ServerCounters::index_read));
  if (!hits || !reads) {
    for (const char* metric : {"hit_pct", "accesses", "reads"}) {
      values.push_back(MetricValue::absent(metric, kReset));
    }
    return;
  }
  const std::uint64_t accesses = *hits + *reads;
  values.push_back(accesses == 0
                       ? MetricValue::absent("hit_pct", "no block of a user's table was asked for")
                       : MetricValue::of("hit_pct", 100.0 * static_cast<double>(*hits) /
                                                        static_cast<double>(accesses)));
  values.push_back(value_of("accesses", accesses));
  values.push_back(value_of("reads", *reads));
}

MetricValue adv_per_victim(const Window& window, std::uint64_t way, int version_num) {
  const char* metric = "adv_per_victim_hand";
  const Member divisor =
      version_num >= kPgStatIo ? &ServerCounters::evictions : &ServerCounters::buffers_allocated;
  const Counter victims = window.grown(divisor);
  if (!victims) return MetricValue::absent(metric, window.reason(divisor));
  if (*victims == 0) return MetricValue::absent(metric, "no buffer was replaced in the window");
  return MetricValue::of(metric, static_cast<double>(way) / static_cast<double>(*victims));
}

void add_hand(const Window& window, int version_num, std::uint64_t pool_buffers,
              const std::string& hand_reason, std::vector<MetricValue>& values) {
  const Counter way = window.grown(&ServerCounters::hand);
  if (!way) {
    const std::string reason =
        window.went_backwards(&ServerCounters::hand) ? "the hand went backwards" : hand_reason;
    values.push_back(MetricValue::absent("adv_per_victim_hand", reason));
    values.push_back(MetricValue::absent("laps", reason));
    return;
  }
  values.push_back(adv_per_victim(window, *way, version_num));
  values.push_back(
      MetricValue::of("laps", static_cast<double>(*way) / static_cast<double>(pool_buffers)));
}

}  // namespace

std::vector<MetricValue> window_values(const ServerCounters& before, const ServerCounters& after,
                                       int version_num, std::uint64_t pool_buffers,
                                       const std::string& hand_reason) {
  const Window window(before, after);
  std::vector<MetricValue> values;
  for (const auto& [metric, counter] : kCounterMetrics) {
    const Counter grown = window.grown(counter);
    values.push_back(grown ? value_of(metric, *grown)
                           : MetricValue::absent(metric, window.reason(counter)));
  }
  add_hits(window, values);
  add_hand(window, version_num, pool_buffers, hand_reason, values);
  return values;
}

}  // namespace numabench
