// How the buffers divide into the partitions of the sweep.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runner/engines/embedded/buffer_pool.h"

namespace numabench {

/// Contiguous ranges of ids, N / P each, the first N mod P one more.
class PartitionLayout {
 public:
  PartitionLayout() = default;
  PartitionLayout(std::uint32_t buffers, int partitions)
      : buffers_(buffers),
        partitions_(partitions),
        smaller_size_(buffers / static_cast<std::uint32_t>(partitions)),
        larger_count_(buffers % static_cast<std::uint32_t>(partitions)) {}

  std::uint32_t buffers() const { return buffers_; }
  int partitions() const { return partitions_; }

  std::uint32_t size(int partition) const {
    return smaller_size_ + (static_cast<std::uint32_t>(partition) < larger_count_ ? 1 : 0);
  }
  BufferId first_buffer(int partition) const {
    const auto index = static_cast<std::uint32_t>(partition);
    return index * smaller_size_ + std::min(index, larger_count_);
  }
  int partition_of(BufferId buffer) const {
    const std::uint32_t in_larger = larger_count_ * (smaller_size_ + 1);
    return static_cast<int>(buffer < in_larger
                                ? buffer / (smaller_size_ + 1)
                                : larger_count_ + (buffer - in_larger) / smaller_size_);
  }

 private:
  std::uint32_t buffers_ = 0;
  int partitions_ = 1;
  std::uint32_t smaller_size_ = 0;
  std::uint32_t larger_count_ = 0;
};

}  // namespace numabench
