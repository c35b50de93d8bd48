#include <algorithm>

#include "runner/engines/postgres/server_counters.h"

namespace numabench {
namespace {

constexpr int kSummaryFunctions = 160000;  // pg_buffercache 1.4

std::uint64_t number(const Connection::Row& row, std::size_t column) {
  return std::stoull(row.at(column).value());
}

void count_usage(std::uint64_t usage, std::uint64_t buffers, PoolContents& contents) {
  if (contents.by_usage.size() <= usage) contents.by_usage.resize(usage + 1);
  contents.by_usage[usage] += buffers;
}

PoolContents from_summary(Connection& connection) {
  PoolContents contents;
  const Connection::Row summary =
      connection.query("SELECT buffers_used, buffers_unused FROM pg_buffercache_summary()").at(0);
  const std::uint64_t unused = number(summary, 1);
  contents.used = number(summary, 0);
  contents.buffers = contents.used + unused;
  for (const Connection::Row& row :
       connection.query("SELECT usage_count, buffers FROM pg_buffercache_usage_counts()")) {
    count_usage(number(row, 0), number(row, 1), contents);
  }
  // There, free buffers are of usage count 0.
  if (!contents.by_usage.empty()) {
    contents.by_usage[0] -= std::min(unused, contents.by_usage[0]);
  }
  return contents;
}

PoolContents from_view(Connection& connection) {
  PoolContents contents;
  for (const Connection::Row& row :
       connection.query("SELECT usagecount, count(*) FROM pg_buffercache GROUP BY 1")) {
    const std::uint64_t buffers = number(row, 1);
    contents.buffers += buffers;
    if (!row.at(0)) continue;  // free buffers: all columns but the first are NULL
    contents.used += buffers;
    count_usage(number(row, 0), buffers, contents);
  }
  return contents;
}

}  // namespace

PoolContents read_pool_contents(Connection& connection) {
  return connection.server_version_num() >= kSummaryFunctions ? from_summary(connection)
                                                              : from_view(connection);
}

}  // namespace numabench
