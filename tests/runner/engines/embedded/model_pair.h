// A real pool and its model side by side: every operation is done to both, and whatever they show
// of themselves is compared.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/engines/embedded/backend.h"
#include "runner/engines/embedded/background_writer.h"
#include "tests/runner/engines/embedded/model_operations.h"
#include "tests/runner/engines/embedded/model_pool.h"

namespace numabench {

class PoolPair {
 public:
  /// A client lets go of its oldest pin before it takes one more than these.
  static constexpr std::size_t kMostPins = 3;

  PoolPair(const PoolPolicy& policy, const PoolShape& shape, std::size_t clients);

  /// Does the operation to both. Returns how their answers differ; empty when they do not. When no
  /// buffer can be had, both must say so, and the string goes on.
  std::string apply(const Operation& operation);

  /// Compares all that can be seen from outside: every buffer's usage, every page's residency,
  /// occupancy, weights, laps and counters. Empty when all is equal, else the first difference.
  std::string compare_state();

  /// Lets go of all pins and asks the real pool whether it is consistent.
  std::string find_inconsistency();

 private:
  struct Client {
    Client(BufferPool& pool, ModelPool& model, const PoolShape& shape);

    Backend::Location location;
    BackendCounters counters;
    Backend backend;
    ModelBackend model;
    BufferRing ring;
    ModelRing model_ring;
    std::vector<BufferId> pins;  ///< oldest first; a buffer pinned twice is there twice
  };

  std::string read(Client& client, PageNumber page, bool with_ring);
  void unpin(Client& client, std::size_t index);
  std::string compare_pool();
  std::string compare_counters(std::size_t client);

  PoolShape shape_;
  BufferPool pool_;
  BackgroundWriter writer_;
  ModelPool model_;
  std::vector<std::unique_ptr<Client>> clients_;
};

/// A string on which pool and model differ: its shortest prefix, less what is not needed.
struct Disagreement {
  std::vector<Operation> operations;
  std::string difference;
};

/// One random string's circumstances.
struct Trial {
  PoolPolicy policy;
  PoolShape shape;
  StringShape string;
  std::uint64_t seed = 0;
};

std::optional<Disagreement> find_disagreement(const Trial& trial);

/// All that is needed to see it again.
std::string to_string(const Trial& trial, const Disagreement& disagreement);

}  // namespace numabench
