// Files that are there after a crash: whole and new, or whole and old.
#pragma once

#include <string>

namespace numabench {

/// Replaces `path` by `text`: written beside it, fsync'ed, renamed, the folder fsync'ed. Throws
/// Error(kPreflight) naming the call that failed.
void write_durably(const std::string& path, const std::string& text);

/// Removes `path` and fsyncs its folder; nothing when it is not there.
void remove_durably(const std::string& path);

}  // namespace numabench
