#include "tests/runner/engines/embedded/model_operations.h"

#include <fmt/format.h>

#include "workloads/random.h"

namespace numabench {
namespace {

// Reads outnumber unpins, so that clients often hold all the pins they may (PoolPair::kMostPins).
Operation::Kind random_kind(Random& random) {
  const std::uint64_t percent = random.next_below(100);
  if (percent < 44) return Operation::Kind::kRead;
  if (percent < 58) return Operation::Kind::kScan;
  if (percent < 60) return Operation::Kind::kNewRing;
  if (percent < 97) return Operation::Kind::kUnpin;
  return Operation::Kind::kMove;
}

std::uint32_t random_page(Random& random, const StringShape& shape) {
  const bool hot = random.next_below(2) == 0;
  return static_cast<std::uint32_t>(random.next_below(hot ? shape.hot_pages : shape.pages));
}

}  // namespace

std::string to_string(const Operation& operation) {
  const auto describe = [&operation](const char* what) {
    return fmt::format("client {} {} {}", operation.client, what, operation.value);
  };
  switch (operation.kind) {
    case Operation::Kind::kRead:
      return describe("reads page");
    case Operation::Kind::kScan:
      return describe("scans page");
    case Operation::Kind::kNewRing:
      return fmt::format("client {} begins a new ring", operation.client);
    case Operation::Kind::kUnpin:
      return describe("unpins the one at");
    case Operation::Kind::kMove:
      return describe("moves to CPU");
    case Operation::Kind::kCycle:
      return "background writer";
  }
  return "";
}

std::vector<Operation> random_operations(std::uint64_t seed, const StringShape& shape) {
  Random random(seed);
  std::vector<Operation> operations;
  while (operations.size() < shape.length) {
    if (random.next_below(shape.cycle_every) == 0) {
      operations.push_back({Operation::Kind::kCycle, 0, 0});
      continue;
    }
    Operation operation;
    operation.kind = random_kind(random);
    operation.client = random.next_below(shape.clients);
    const bool reads =
        operation.kind == Operation::Kind::kRead || operation.kind == Operation::Kind::kScan;
    operation.value =
        reads ? random_page(random, shape) : static_cast<std::uint32_t>(random.next_below(12));
    operations.push_back(operation);
  }
  return operations;
}

}  // namespace numabench
