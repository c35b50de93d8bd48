// The server's own statistics: snapshots by version, and what changed between two of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/metric.h"
#include "runner/engines/postgres/connection.h"

namespace numabench {

inline constexpr int kPgStatIo = 160000;  ///< the server_version_num that has pg_stat_io first

/// Cumulative counters since the last reset; absent where this version has none.
struct ServerCounters {
  /// Blocks of user tables, with their TOAST tables, and of their indexes.
  std::optional<std::uint64_t> heap_hit, heap_read, index_hit, index_read;
  std::optional<std::uint64_t> database_hit, database_read;  ///< pg_stat_database
  std::optional<std::uint64_t> buffers_allocated;
  /// pg_stat_io, all contexts and backends but temporary tables; 16 and later.
  std::optional<std::uint64_t> evictions;
  std::optional<std::uint64_t> io_reads, io_read_bytes, io_reuses;  ///< client backends; 16+
  /// written_backend: of client backends where pg_stat_io tells (16+); before, of all backends, new
  /// pages included. checkpoints: those done, where the version tells (18+); before, those begun or
  /// skipped.
  std::optional<std::uint64_t> written_checkpoint, written_bgwriter, written_backend, checkpoints;
  std::optional<std::uint64_t> hand;  ///< way of the clock hand: passes × buffers + position
};

/// One look; 13 to 20devel, by server_version_num. `with_hand` calls numabench_clock().
ServerCounters read_server_counters(Connection& connection, bool with_hand);

/// pg_stat_reset() and the shared ones.
void reset_server_counters(Connection& connection);

/// Waits until pg_stat_activity shows no client but us, and half a second more (two rounds of the
/// background writer, if they take longer) so that their counters are flushed. Throws Error(kRun)
/// after `seconds`, naming who is still there.
void wait_for_clients_to_leave(Connection& connection, double seconds);

/// The values of the window between two looks: heap and index blocks, pg_stat_io, bgwriter and
/// checkpointer; hit_pct, reads and accesses (of user tables and their indexes); evictions,
/// adv_per_victim_hand, laps. Absent ones carry the reason ("pg_stat_io needs PostgreSQL 16", or
/// `hand_reason` for what needs the hand).
///
/// adv_per_victim_hand divides the way of the hand by the evictions where the server counts them
/// (16 and later): allocations that the freelist served (up to 18) move no hand. Before 16 it
/// divides by buffers_alloc, which counts those too: right once the pool is full.
std::vector<MetricValue> window_values(const ServerCounters& before, const ServerCounters& after,
                                       int version_num, std::uint64_t pool_buffers,
                                       const std::string& hand_reason);

/// What is in the pool, by pg_buffercache: summary and usage counts where the version has them
/// (16+), else the view. It reads every buffer header: outside of the window only.
struct PoolContents {
  std::uint64_t buffers = 0;
  std::uint64_t used = 0;
  std::vector<std::uint64_t> by_usage;  ///< index: usage count, free buffers not counted
};
PoolContents read_pool_contents(Connection& connection);

/// Backends of clients by wait event, sampled: "" for none.
class WaitSampler {
 public:
  /// One look at pg_stat_activity, our own backend left out.
  void sample(Connection& connection);
  /// waits_*_pct; absent without a sample.
  std::vector<MetricValue> values() const;
  /// "type,event,samples" lines, most first: an artifact.
  std::string csv() const;

 private:
  std::map<std::pair<std::string, std::string>, std::uint64_t> seen_;
};

}  // namespace numabench
