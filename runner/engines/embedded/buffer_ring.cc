#include "runner/engines/embedded/buffer_ring.h"

#include <algorithm>

namespace numabench {
namespace {

// PostgreSQL 18's bulk-read ring: 256 KiB and what asynchronous reads may have in flight.
constexpr std::uint32_t kBaseBuffers = 32;
constexpr std::uint32_t kIoCombineLimit = 16;
constexpr std::uint32_t kEffectiveIoConcurrency = 16;
constexpr std::uint32_t kLargestShare = 8;  // of the pool: one eighth

std::uint32_t slots_for(std::uint32_t pool_buffers) {
  return std::clamp(pool_buffers / kLargestShare, 1u,
                    kBaseBuffers + kIoCombineLimit * kEffectiveIoConcurrency);
}

}  // namespace

BufferRing::BufferRing(std::uint32_t pool_buffers)
    : buffers_(slots_for(pool_buffers), kNoBuffer), current_(buffers_.size() - 1) {}

BufferId BufferRing::advance() {
  current_ = (current_ + 1) % buffers_.size();
  return buffers_[current_];
}

}  // namespace numabench
