// A small pool with backends in this process.
#pragma once

#include <memory>
#include <utility>

#include "runner/engines/embedded/backend.h"
#include "runner/engines/embedded/buffer_pool.h"

namespace numabench::testing {

inline PoolShape small_shape(std::uint32_t buffers, std::uint32_t pages) {
  PoolShape shape;
  shape.buffers = buffers;
  shape.dataset_pages = pages;
  shape.huge_pages = SharedRegion::HugePages::kOff;
  return shape;
}

/// One client and what it counts.
struct TestBackend {
  explicit TestBackend(BufferPool& pool, int cpu = 0, PageReader reader = {})
      : backend(pool, *counters, std::move(reader), [this] { return location; }) {
    location.cpu = cpu;
  }
  /// Reads and lets go again.
  ReadResult touch(PageNumber page, BufferRing* ring = nullptr) {
    const ReadResult result = backend.read(page, ring);
    backend.unpin(result.buffer);
    return result;
  }

  std::unique_ptr<BackendCounters> counters = std::make_unique<BackendCounters>();
  Backend::Location location;
  Backend backend;
};

}  // namespace numabench::testing
