// A small pool's model for examples worked out by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tests/runner/engines/embedded/model_pool.h"

namespace numabench {

/// A model with some backends, whose reads are unpinned at once unless a test pins.
class ModelExample {
 public:
  ModelExample(std::uint32_t buffers, const PoolPolicy& policy, std::vector<int> nodes = {0})
      : pool_(policy, {.buffers = buffers, .dataset_pages = 10000, .nodes = std::move(nodes)}) {}

  /// A backend on a CPU of a node.
  ModelBackend backend(int cpu = 0, int node_index = 0) {
    return ModelBackend(pool_, [=] { return Backend::Location{node_index, cpu}; });
  }

  static std::optional<BufferId> touch(ModelBackend& backend, PageNumber page,
                                       ModelRing* ring = nullptr) {
    const std::optional<ReadResult> result = backend.read(page, ring);
    if (!result) return std::nullopt;
    backend.unpin(result->buffer);
    return result->buffer;
  }

  /// Touches `count` pages from `first` on.
  static void touch_range(ModelBackend& backend, PageNumber first, PageNumber count) {
    for (PageNumber page = first; page < first + count; ++page) touch(backend, page);
  }

  std::vector<int> usages() {
    std::vector<int> result;
    for (BufferId id = 0; id < pool_.size(); ++id) result.push_back(pool_.buffer(id).usage);
    return result;
  }

  ModelPool& pool() { return pool_; }

 private:
  ModelPool pool_;
};

}  // namespace numabench
