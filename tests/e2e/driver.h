// Drives programs from the outside, as a person or a script does: nothing here knows the insides of
// numabench.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "hosts/process.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {

void write_file(const std::filesystem::path& path, const std::string& text);
std::string read_file(const std::filesystem::path& path);
std::vector<std::string> lines_of(const std::string& text);

/// The numabench of this build, to its end. `directory` is where it runs: nothing is left
/// elsewhere.
CommandResult numabench(const std::vector<std::string>& arguments, const std::string& directory,
                        std::chrono::minutes limit = std::chrono::minutes(4));

/// The same with all three standard streams on a terminal of 120 columns; `out` is what the
/// terminal received, and `err` is empty.
CommandResult numabench_on_terminal(const std::vector<std::string>& arguments,
                                    const std::string& directory, const std::string& no_color = "");

/// Writes small.yaml and the arms it names into `directory`: the canonical arms over zipfian,
/// hotscan and seqscan at three ratios, 27 cells of a fraction of a second.
void write_small_experiment(const std::string& directory);

/// numabench in the background, killed by the destructor. Its output is discarded into
/// `directory`/background.log.
Worker start_numabench(const std::vector<std::string>& arguments, const std::string& directory);

/// The rows that Debian's sqlite3 program prints for `sql`, columns separated by '|'.
std::vector<std::string> query(const std::string& database, const std::string& sql);

}  // namespace numabench
