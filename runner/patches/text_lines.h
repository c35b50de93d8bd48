// Lines of a text, and what is compared in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace numabench {

/// Each with its line end; the last may have none. They point into `text`.
std::vector<std::string_view> lines_of(std::string_view text);

/// Without LF or CR LF.
std::string_view without_line_end(std::string_view line);

/// CR LF -> LF; a CR elsewhere stays.
std::string with_unix_line_ends(std::string_view text);

std::string lower_case(std::string_view text);  ///< ASCII only
std::string_view trimmed(std::string_view text);

}  // namespace numabench
