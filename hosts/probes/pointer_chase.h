// A cycle through all cache lines of a region in random order: each load needs the one before it,
// and no prefetcher guesses it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace numabench {

inline constexpr std::size_t kCacheLineBytes = 64;

/// Writes into each whole cache line of [data, data + bytes) the address of the next: one cycle
/// through all of them (Sattolo's algorithm). Returns its beginning.
void** make_chase(std::byte* data, std::size_t bytes, std::uint64_t seed);

}  // namespace numabench
