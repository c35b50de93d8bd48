// Text as it takes room on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace numabench {

/// Terminal columns that UTF-8 `text` occupies: East Asian wide characters take two, combining
/// marks none, whatever the locale. A byte that is not UTF-8 counts as one column.
std::size_t display_width(std::string_view text);

/// `text` with blanks added up to `width` columns, before it (right-aligned) or after it.
std::string pad(std::string_view text, std::size_t width, bool align_right);

/// `text` on one line: runs of blanks and control characters (escape sequences of somebody's log
/// among them) become one blank; more than `limit` columns are cut with "…".
std::string one_line(std::string_view text, std::size_t limit);

}  // namespace numabench
