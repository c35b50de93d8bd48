// Which buffer holds a page, for the fast mode: an array indexed by page number, without locks.
//
// Pages of a dataset are dense, so an array replaces the hash table, and both the map entry and the
// descriptor of a coming access can be prefetched. The order of writes replaces the locks:
//   - a page enters by compare-and-swap here first; then its buffer gets the tag, then kTagValid;
//   - a page leaves by losing kTagValid first; then its entry here is erased.
// A reader pins what it finds and then believes only the tag of the buffer it has pinned.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runner/engines/embedded/buffer_pool.h"

namespace numabench {

/// A view of the array in shared memory; copies refer to the same array.
class DenseMap {
 public:
  static std::size_t bytes(std::uint32_t pages) { return sizeof(Entry) * pages; }

  DenseMap() = default;
  /// `memory` is zero-filled and outlives the map.
  DenseMap(std::byte* memory, std::uint32_t pages)
      : pages_(pages), entries_(reinterpret_cast<Entry*>(memory)) {}

  BufferId find(PageNumber page) const {
    return entries_[page].load(std::memory_order_acquire) - 1;  // 0 - 1 is kNoBuffer
  }
  /// The buffer that holds the page already, or kNoBuffer when `buffer` has entered.
  BufferId insert(PageNumber page, BufferId buffer) {
    std::uint32_t present = 0;
    entries_[page].compare_exchange_strong(present, buffer + 1, std::memory_order_acq_rel);
    return present - 1;
  }
  void erase(PageNumber page) { entries_[page].store(0, std::memory_order_release); }

  void prefetch(PageNumber page) const { __builtin_prefetch(&entries_[page]); }

  /// Pages that have a buffer. While nobody uses it.
  std::uint64_t entries() const {
    std::uint64_t count = 0;
    for (std::uint32_t page = 0; page < pages_; ++page) count += find(page) != kNoBuffer ? 1u : 0u;
    return count;
  }

 private:
  using Entry = std::atomic<std::uint32_t>;  ///< 1 + the buffer id; 0: none
  std::uint32_t pages_ = 0;
  Entry* entries_ = nullptr;
};

}  // namespace numabench
