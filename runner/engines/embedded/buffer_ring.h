// The ring of a bulk read: PostgreSQL's BufferAccessStrategy of type BAS_BULKREAD.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/engines/embedded/buffer_pool.h"

namespace numabench {

/// Belongs to one scan of one backend (RING of the rules).
class BufferRing {
 public:
  explicit BufferRing(std::uint32_t pool_buffers);

  std::uint32_t slots() const { return static_cast<std::uint32_t>(buffers_.size()); }
  /// Moves to the next slot and returns its buffer; kNoBuffer while the ring is filling.
  BufferId advance();
  /// Puts `buffer` into the current slot.
  void remember(BufferId buffer) { buffers_[current_] = buffer; }

 private:
  std::vector<BufferId> buffers_;
  std::size_t current_;
};

}  // namespace numabench
