// Reading the one-value and few-line files of /proc and /sys, and writing what a user asked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hosts/id_set.h"

namespace numabench {

/// The whole file without trailing white space; nullopt, with errno set, if it cannot be read.
std::optional<std::string> read_text_file(const std::string& path);

/// Makes or replaces a file that a user asked for. Throws Error(kUsage) naming it.
void write_text_file(const std::string& path, const std::string& text);

/// The value of the line "label:  value" in a file such as /proc/meminfo; nullopt if there is none.
std::optional<std::string> labelled_value(std::string_view text, std::string_view label);

/// "always [madvise] never" -> "madvise", as /sys shows a choice; a text without brackets stays.
std::string chosen_word(const std::string& text);

/// The numbers at the end of the directory's entries `prefix`NUMBER, such as "node0"; empty if it
/// cannot be read.
IdSet numbered_entries(const std::string& directory, const std::string& prefix);

}  // namespace numabench
