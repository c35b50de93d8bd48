// What mail programs and people do to text around a diff, undone.
#pragma once

#include <string>
#include <string_view>

namespace numabench {

/// RFC 3676: space-stuffing is removed and lines that end in a space are joined with the next;
/// `delete_space` is DelSp=yes.
std::string undo_flowed(std::string_view text, bool delete_space);

/// The first half of it: stuffing alone.
std::string undo_stuffing(std::string_view text);

/// What stands below the last scissors line (">8" or "8<" in a row of dashes, as git-mailinfo(1)
/// has it) above the diff; all of the text when there is none.
std::string below_scissors(std::string_view text);

}  // namespace numabench
