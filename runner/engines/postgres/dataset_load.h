// Filling an initialised data directory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/engines/postgres/connection.h"
#include "runner/engines/postgres/dataset_store.h"
#include "workloads/sql_workload.h"

namespace numabench {

/// maintenance_work_mem of the server that loads: larger primary keys are sorted on disk.
inline constexpr std::uint64_t kLoadSortMemoryBytes = std::uint64_t{512} << 20;

/// The rows first .. last, which count from 1; none when last is first - 1.
struct RowRange {
  std::uint64_t first = 1;
  std::uint64_t last = 0;

  std::uint64_t rows() const { return last - first + 1; }
};

/// The rows of each partition, as pgbench -i cuts them; of the table when it has none.
std::vector<RowRange> partition_ranges(const SqlTable& table);

/// The settings of a server that loads: fast, not safe against a crash, since what was interrupted
/// is made again.
std::map<std::string, std::string> load_settings();

/// Loads everything that DatasetStore promises of a dataset, ending with a checkpoint.
void load_dataset(Connection& connection, const SqlWorkload& workload,
                  const LoadObserver& observer);

}  // namespace numabench
