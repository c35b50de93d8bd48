// What an earlier run that was killed may have left in a data directory.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace numabench {

/// Whom postmaster.pid names; 0 when there is no such file or number.
pid_t recorded_postmaster(const std::string& data_directory);

/// Ends the server that still runs in `data_directory`, and backends that outlived theirs and hold
/// its shared memory; removes a postmaster.pid that names nobody. Only processes of the directory's
/// owner that are a postgres and have it as their working directory are touched. The caller is sure
/// that no run uses the directory (DatasetStore locks it). Returns what was found, a sentence each.
/// Throws Error(kRun) when such a process cannot be ended.
std::vector<std::string> clean_stale_server(const std::string& data_directory);

}  // namespace numabench
