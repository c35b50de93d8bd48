#include "runner/engines/postgres/server_counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "hosts/error.h"

namespace numabench {
namespace {

using Clock = std::chrono::steady_clock;

// What changed in which version, by server_version_num.
constexpr int kSharedMemoryStatistics = 150000;  // before, a file that was up to 500 ms old
constexpr int kPgStatCheckpointer = 170000;
constexpr int kIoInBytes = 180000;        // op_bytes gone, read_bytes and write_bytes instead
constexpr int kCheckpointsDone = 180000;  // num_done
constexpr int kAny = std::numeric_limits<int>::max();

constexpr std::chrono::milliseconds kPoll{50};
constexpr std::chrono::milliseconds kFlush{500};
constexpr std::chrono::milliseconds kStaleStatistics{600};

/// Where a counter is found by servers of versions [since, before).
struct Source {
  std::optional<std::uint64_t> ServerCounters::*counter;
  int since;
  int before;
  const char* sql;  ///< one value
};

constexpr Source kSources[] = {
    {&ServerCounters::heap_hit, 0, kAny,
     "SELECT sum(heap_blks_hit + coalesce(toast_blks_hit, 0)) FROM pg_statio_user_tables"},
    {&ServerCounters::heap_read, 0, kAny,
     "SELECT sum(heap_blks_read + coalesce(toast_blks_read, 0)) FROM pg_statio_user_tables"},
    {&ServerCounters::index_hit, 0, kAny,
     "SELECT sum(coalesce(idx_blks_hit, 0) + coalesce(tidx_blks_hit, 0)) FROM "
     "pg_statio_user_tables"},
    {&ServerCounters::index_read, 0, kAny,
     "SELECT sum(coalesce(idx_blks_read, 0) + coalesce(tidx_blks_read, 0)) FROM "
     "pg_statio_user_tables"},
    {&ServerCounters::database_hit, 0, kAny,
     "SELECT blks_hit FROM pg_stat_database WHERE datname = current_database()"},
    {&ServerCounters::database_read, 0, kAny,
     "SELECT blks_read FROM pg_stat_database WHERE datname = current_database()"},

    {&ServerCounters::buffers_allocated, 0, kAny, "SELECT buffers_alloc FROM pg_stat_bgwriter"},
    {&ServerCounters::written_bgwriter, 0, kAny, "SELECT buffers_clean FROM pg_stat_bgwriter"},
    {&ServerCounters::written_backend, 0, kPgStatIo,
     "SELECT buffers_backend FROM pg_stat_bgwriter"},
    {&ServerCounters::written_backend, kPgStatIo, kIoInBytes,
     "SELECT sum(writes) FROM pg_stat_io "
     "WHERE backend_type = 'client backend' AND object = 'relation'"},
    {&ServerCounters::written_backend, kIoInBytes, kAny,
     "SELECT sum(write_bytes) / current_setting('block_size')::int FROM pg_stat_io "
     "WHERE backend_type = 'client backend' AND object = 'relation'"},
    {&ServerCounters::written_checkpoint, 0, kPgStatCheckpointer,
     "SELECT buffers_checkpoint FROM pg_stat_bgwriter"},
    {&ServerCounters::written_checkpoint, kPgStatCheckpointer, kAny,
     "SELECT buffers_written FROM pg_stat_checkpointer"},
    {&ServerCounters::checkpoints, 0, kPgStatCheckpointer,
     "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter"},
    {&ServerCounters::checkpoints, kPgStatCheckpointer, kCheckpointsDone,
     "SELECT num_timed + num_requested FROM pg_stat_checkpointer"},
    {&ServerCounters::checkpoints, kCheckpointsDone, kAny,
     "SELECT num_done FROM pg_stat_checkpointer"},

    {&ServerCounters::evictions, kPgStatIo, kAny,
     "SELECT sum(evictions) FROM pg_stat_io WHERE object = 'relation'"},
    {&ServerCounters::io_reads, kPgStatIo, kAny,
     "SELECT sum(reads) FROM pg_stat_io "
     "WHERE backend_type = 'client backend' AND object = 'relation'"},
    {&ServerCounters::io_read_bytes, kPgStatIo, kIoInBytes,
     "SELECT sum(reads * op_bytes) FROM pg_stat_io "
     "WHERE backend_type = 'client backend' AND object = 'relation'"},
    {&ServerCounters::io_read_bytes, kIoInBytes, kAny,
     "SELECT sum(read_bytes) FROM pg_stat_io "
     "WHERE backend_type = 'client backend' AND object = 'relation'"},
    {&ServerCounters::io_reuses, kPgStatIo, kAny,
     "SELECT sum(reuses) FROM pg_stat_io "
     "WHERE backend_type = 'client backend' AND object = 'relation'"},
};

constexpr Source kHand = {&ServerCounters::hand, 0, kAny, "SELECT numabench_clock()"};

std::vector<Source> sources_of(int version_num, bool with_hand) {
  std::vector<Source> sources;
  std::ranges::copy_if(kSources, std::back_inserter(sources), [&](const Source& source) {
    return version_num >= source.since && version_num < source.before;
  });
  if (with_hand) sources.push_back(kHand);
  return sources;
}

/// One line for each client but us: "pid 17 (pgbench, active)".
std::vector<std::string> other_clients(Connection& connection) {
  const auto rows = connection.query(
      "SELECT format('pid %s (%s, %s)', pid, application_name, state) FROM pg_stat_activity "
      "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY pid");
  std::vector<std::string> clients;
  for (const Connection::Row& row : rows) clients.push_back(row.front().value_or(""));
  return clients;
}

/// How long it takes until the last allocations are in the statistics: backends flush theirs as
/// they end, the background writer counts buffers_alloc once a round.
std::chrono::milliseconds flush_time(Connection& connection) {
  const auto delay =
      connection.value("SELECT setting FROM pg_settings WHERE name = 'bgwriter_delay'");
  const auto two_rounds = 2 * std::chrono::milliseconds(std::stoi(delay.value()));
  const auto stale = connection.server_version_num() < kSharedMemoryStatistics
                         ? kStaleStatistics
                         : std::chrono::milliseconds{0};
  return std::max(kFlush, two_rounds) + stale;
}

}  // namespace

ServerCounters read_server_counters(Connection& connection, bool with_hand) {
  const std::vector<Source> sources = sources_of(connection.server_version_num(), with_hand);
  // One statement, so that all is of one moment. Sums over no rows are NULL, sums of bigint
  // numeric.
  std::vector<std::string> columns;
  for (const Source& source : sources) {
    columns.push_back(fmt::format("coalesce(({}), 0)::bigint", source.sql));
  }
  const Connection::Row row =
      connection.query_again(fmt::format("SELECT {}", fmt::join(columns, ", "))).at(0);
  ServerCounters counters;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    counters.*sources[i].counter = std::stoull(row.at(i).value());
  }
  return counters;
}

void reset_server_counters(Connection& connection) {
  const int version = connection.server_version_num();
  connection.execute("SELECT pg_stat_reset()");
  connection.execute("SELECT pg_stat_reset_shared('bgwriter')");
  if (version >= kPgStatIo) connection.execute("SELECT pg_stat_reset_shared('io')");
  if (version >= kPgStatCheckpointer) {
    connection.execute("SELECT pg_stat_reset_shared('checkpointer')");
  }
  if (version < kSharedMemoryStatistics) std::this_thread::sleep_for(kStaleStatistics);
}

void wait_for_clients_to_leave(Connection& connection, double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  std::vector<std::string> clients = other_clients(connection);
  while (!clients.empty()) {
    if (Clock::now() >= deadline) {
      throw Error(ErrorKind::kRun,
                  fmt::format("after {} s the server still has clients: {}", seconds,
                              fmt::join(clients, ", ")),
                  "leave the servers of a benchmark alone while it runs");
    }
    std::this_thread::sleep_for(kPoll);
    clients = other_clients(connection);
  }
  std::this_thread::sleep_for(flush_time(connection));
}

}  // namespace numabench
