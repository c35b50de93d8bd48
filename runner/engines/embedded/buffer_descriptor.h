// A buffer's descriptor: one 64-bit atomic state and the tag, padded to a cache line of its own as
// PostgreSQL pads BufferDesc.
//
// The layout of the state follows PostgreSQL's buf_internals.h: refcount, usage count and flags in
// one word, so that a pin, an unpin and each step of the sweep are one atomic operation. A zero
// word is a buffer without a page, which is why fresh shared memory needs no initialisation.
#pragma once

#include <atomic>
#include <cstdint>

#include "workloads/dataset.h"

namespace numabench {

namespace buffer_state {

inline constexpr unsigned kRefcountBits = 18;
inline constexpr unsigned kUsageBits = 4;

inline constexpr std::uint64_t kOneRef = 1;
inline constexpr std::uint64_t kRefcountMask = (std::uint64_t{1} << kRefcountBits) - 1;
inline constexpr std::uint64_t kOneUsage = std::uint64_t{1} << kRefcountBits;
inline constexpr std::uint64_t kUsageMask = ((std::uint64_t{1} << kUsageBits) - 1) << kRefcountBits;

inline constexpr unsigned kFlagShift = kRefcountBits + kUsageBits;
inline constexpr std::uint64_t kTagValid = std::uint64_t{1} << kFlagShift;  ///< it holds a page
inline constexpr std::uint64_t kValid = std::uint64_t{2} << kFlagShift;  ///< contents can be used
inline constexpr std::uint64_t kIoInProgress = std::uint64_t{4} << kFlagShift;

constexpr std::uint32_t refcount(std::uint64_t state) {
  return static_cast<std::uint32_t>(state & kRefcountMask);
}
constexpr std::uint32_t usage(std::uint64_t state) {
  return static_cast<std::uint32_t>((state & kUsageMask) >> kRefcountBits);
}
constexpr bool has(std::uint64_t state, std::uint64_t flag) { return (state & flag) != 0; }
constexpr std::uint64_t with_usage(std::uint64_t state, std::uint32_t usage) {
  return (state & ~kUsageMask) | (std::uint64_t{usage} << kRefcountBits);
}

}  // namespace buffer_state

struct alignas(64) BufferDescriptor {
  std::atomic<std::uint64_t> state{0};
  /// The page it holds, while the state has kTagValid. Changed only by the backend that has claimed
  /// the buffer, so whoever has pinned it can rely on it.
  std::atomic<PageNumber> tag{0};
};
static_assert(sizeof(BufferDescriptor) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace numabench
