// The kernel's page cache, as far as the files of one directory are in it.
#pragma once

#include <cstdint>
#include <string>

namespace numabench {

/// Reads all regular files below `directory`, so that they are in the page cache as far as memory
/// allows. Returns the bytes read.
std::uint64_t warm_page_cache(const std::string& directory);

/// Writes back and drops the cached pages of the files below `directory` (posix_fadvise). Pages
/// that a program has mapped stay. Returns the bytes that are still cached.
std::uint64_t drop_cached_files(const std::string& directory);

/// drop_cached_files(), and as root also the kernel's caches (/proc/sys/vm/drop_caches). Other
/// programs' files are affected by the latter. Throws Error(kRun) when more than a hundredth of the
/// bytes stay cached.
void drop_page_cache(const std::string& directory);

/// Bytes of the files below `directory` that are in the page cache (mincore).
std::uint64_t cached_bytes(const std::string& directory);

}  // namespace numabench
