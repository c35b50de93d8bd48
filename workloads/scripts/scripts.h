// The pgbench scripts of this folder, embedded into the library when it is configured: a workload
// runs wherever the program does, without its sources.
#pragma once

#include <string>
#include <vector>

#include "workloads/sql_workload.h"

namespace numabench {

/// The variable default_seed of permute() and hash(). pgbench would draw it from --random-seed,
/// which differs between the warm-up and the window: the hot rows would move.
inline constexpr const char* kDefaultSeed = "1";

/// The script scripts/NAME.pgb; `name` is one of them.
SqlScript pgbench_script(const std::string& name);

/// The same script on other tables: client i of the process runs it on tables[i % tables.size()]
/// where it says table_1. A table's name cannot be a variable, because a prepared statement has no
/// parameter for it: the script gets a branch a table.
SqlScript pgbench_script_for(const std::string& name, const std::vector<std::string>& tables);

}  // namespace numabench
