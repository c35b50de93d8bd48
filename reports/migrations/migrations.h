// The migrations of the results store, embedded into the library when it is configured: a results
// file can be opened wherever the program runs, without its sources.
#pragma once

#include <string_view>
#include <vector>

namespace numabench {

/// The texts of migrations/NNN.sql: element i brings a file from schema version i to i + 1. A
/// migration that has been released never changes; a new schema is a new file.
const std::vector<std::string_view>& migrations();

}  // namespace numabench
