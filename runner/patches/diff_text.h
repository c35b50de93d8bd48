// What a unified diff looks like, and whether it is whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace numabench {

/// Whether a diff of one file begins at the start of `text`: "diff --git", or "--- a", "+++ b" and
/// "@@" in three lines.
bool begins_diff(std::string_view text);

/// Whether a unified diff begins at any line of it.
bool has_diff(std::string_view text);

/// Whether it holds a context diff (diff -c), which git cannot apply.
bool has_context_diff(std::string_view text);

/// Empty when each hunk has as many lines as its "@@" line says and is followed by an empty line, a
/// signature or more of the diff; else what is wrong: "the hunk in line 12 breaks off in line 20".
std::string diff_damage(std::string_view text);

/// Whether lines inside of hunks end in CR LF.
bool hunks_have_cr(std::string_view text);

/// Whether the lines that name the files end in CR LF, so that the whole text does.
bool headers_have_cr(std::string_view text);

}  // namespace numabench
