// A copy of a directory tree whose files share their blocks where the filesystem can (reflink).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace numabench {

enum class TreeCopyMethod { kReflink, kBytes };

/// Bytes of the regular files below `directory`; 0 when it is not there.
std::uint64_t tree_bytes(const std::string& directory);

/// Copies `from` to `to`, which must not exist: modes, owners, times, symbolic links and holes
/// kept. `progress` is called with the bytes done so far. Makes `to` under a temporary name and
/// renames it, so that a partial copy is never mistaken for a whole one. Throws Error(kRun),
/// leaving nothing, and Error(kPreflight) when a byte copy would not fit on the filesystem.
TreeCopyMethod copy_tree(const std::string& from, const std::string& to,
                         const std::function<void(std::uint64_t bytes)>& progress);

/// Removes a tree; nothing when it is not there. Never follows symbolic links.
void remove_tree(const std::string& directory);

}  // namespace numabench
