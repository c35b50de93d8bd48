// The pins that one backend holds: PostgreSQL's PrivateRefCount.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/engines/embedded/buffer_pool.h"

namespace numabench {

/// Only a backend's first pin and last unpin of a buffer touch the shared state. A client holds a
/// handful of pins at a time, so a linear search is the fastest.
class PrivateRefCounts {
 public:
  bool holds(BufferId buffer) const {
    for (const Entry& entry : entries_) {
      if (entry.buffer == buffer) return true;
    }
    return false;
  }
  /// A first or a nested pin.
  void add(BufferId buffer) {
    for (Entry& entry : entries_) {
      if (entry.buffer == buffer) {
        ++entry.pins;
        return;
      }
    }
    entries_.push_back({buffer, 1});
  }
  /// Whether that was the last pin. The buffer must be held.
  bool remove(BufferId buffer) {
    std::size_t i = entries_.size() - 1;
    while (entries_[i].buffer != buffer) --i;
    if (--entries_[i].pins != 0) return false;
    entries_[i] = entries_.back();
    entries_.pop_back();
    return true;
  }

 private:
  struct Entry {
    BufferId buffer;
    std::uint32_t pins;
  };
  std::vector<Entry> entries_;
};

}  // namespace numabench
