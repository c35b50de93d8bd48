// What is in a server's pool before its clients come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/engines/postgres/connection.h"
#include "workloads/workload.h"

namespace numabench {

/// Reads the tables' pages with pg_prewarm from one session, in `order`, heaps to at most
/// `pool_pages` in all; nothing for kCold. The tables are there: DatasetStore has measured them.
/// kRandom is not for a server: SqlWorkload never has it.
void fill_pool(Connection& connection, const std::vector<std::string>& tables, FillOrder order,
               std::uint64_t pool_pages);

}  // namespace numabench
