// Strings of operations on a small pool: what several clients and the background writer do, one
// after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/dataset.h"

namespace numabench {

struct Operation {
  enum class Kind {
    kRead,     ///< client reads page `value` and keeps its pin
    kScan,     ///< the same through the client's ring
    kNewRing,  ///< client begins a new bulk read
    kUnpin,    ///< client lets go of one of its pins, the `value`-th modulo their number
    kMove,     ///< client runs on CPU `value` of node `value` modulo the nodes from now on
    kCycle,    ///< the background writer's and the balancer's turn
  };
  Kind kind = Kind::kCycle;
  std::size_t client = 0;
  std::uint32_t value = 0;
};

/// "client 1 reads page 7"
std::string to_string(const Operation& operation);

/// How random strings look.
struct StringShape {
  std::size_t length = 0;
  std::size_t clients = 1;
  std::uint32_t pages = 1;      ///< pages asked for: 0 .. pages - 1
  std::uint32_t hot_pages = 1;  ///< the first of them, that half of the reads go to
  unsigned cycle_every =
      20;  ///< operations, on average, between two turns of the background writer
};

/// The same string for the same seed, on every machine.
std::vector<Operation> random_operations(std::uint64_t seed, const StringShape& shape);

}  // namespace numabench
