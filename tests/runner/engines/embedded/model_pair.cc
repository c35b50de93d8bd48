#include "tests/runner/engines/embedded/model_pair.h"

#include <fmt/format.h>

#include <utility>

#include "hosts/error.h"

namespace numabench {
namespace {

template <typename T>
std::string difference(const std::string& what, const T& pool, const T& model) {
  return pool == model ? "" : fmt::format("{}: pool {}, model {}", what, pool, model);
}

// The first that is not empty.
std::string first_of(std::initializer_list<std::string> differences) {
  for (const std::string& each : differences) {
    if (!each.empty()) return each;
  }
  return "";
}

std::string describe(const std::optional<ReadResult>& result) {
  if (!result) return "no buffer";
  return fmt::format("{} in buffer {}, evicted {}", result->hit ? "hit" : "miss", result->buffer,
                     result->evicted == kNoPage ? "nothing" : std::to_string(result->evicted));
}

// Nothing when no buffer can be had; other errors are the test's failure.
std::optional<ReadResult> read_pool(Backend& backend, PageNumber page, BufferRing* ring) {
  try {
    return backend.read(page, ring);
  } catch (const Error& error) {
    const bool expected =
        error.kind() == ErrorKind::kRun && error.problem() == "no unpinned buffers available";
    if (!expected) throw;
    return std::nullopt;
  }
}

ModelCounters observed(const BackendCounters& counters) {
  return {.accesses = counters.accesses.get(),
          .reads = counters.reads.get(),
          .evictions = counters.evictions.get(),
          .victims = counters.victims.get(),
          .ticks = counters.ticks.get(),
          .forced = counters.forced.get(),
          .ring_reuses = counters.ring_reuses.get(),
          .victims_home = counters.victims_home.get(),
          .victims_foreign = counters.victims_foreign.get(),
          .tail = counters.ticks_per_victim.maximum()};
}

std::string describe(const ModelCounters& c) {
  return fmt::format(
      "accesses {} reads {} evictions {} victims {} ticks {} forced {} ring reuses {} home {} "
      "foreign {} tail {}",
      c.accesses, c.reads, c.evictions, c.victims, c.ticks, c.forced, c.ring_reuses, c.victims_home,
      c.victims_foreign, c.tail);
}

}  // namespace

PoolPair::Client::Client(BufferPool& pool, ModelPool& model_pool, const PoolShape& shape)
    : backend(
          pool, counters, [](PageNumber, std::byte*) {}, [this] { return location; }),
      model(model_pool, [this] { return location; }),
      ring(shape.buffers),
      model_ring(shape.buffers) {}

PoolPair::PoolPair(const PoolPolicy& policy, const PoolShape& shape, std::size_t clients)
    : shape_(shape), pool_(policy, shape), writer_(pool_), model_(policy, shape) {
  for (std::size_t i = 0; i < clients; ++i) {
    clients_.push_back(std::make_unique<Client>(pool_, model_, shape));
  }
}

std::string PoolPair::apply(const Operation& operation) {
  Client& client = *clients_.at(operation.client);
  switch (operation.kind) {
    case Operation::Kind::kRead:
      return read(client, operation.value, false);
    case Operation::Kind::kScan:
      return read(client, operation.value, true);
    case Operation::Kind::kNewRing:
      client.ring = BufferRing(shape_.buffers);
      client.model_ring = ModelRing(shape_.buffers);
      return "";
    case Operation::Kind::kUnpin:
      if (!client.pins.empty()) unpin(client, operation.value % client.pins.size());
      return "";
    case Operation::Kind::kMove: {
      const int cpu = static_cast<int>(operation.value);
      client.location = {cpu % static_cast<int>(shape_.nodes.size()), cpu};
      return "";
    }
    case Operation::Kind::kCycle:
      writer_.cycle();
      model_.cycle();
      return "";
  }
  return "";
}

std::string PoolPair::read(Client& client, PageNumber page, bool with_ring) {
  if (client.pins.size() == kMostPins) unpin(client, 0);
  const auto pool = read_pool(client.backend, page, with_ring ? &client.ring : nullptr);
  const auto model = client.model.read(page, with_ring ? &client.model_ring : nullptr);
  if (pool) client.pins.push_back(pool->buffer);
  return difference("read", describe(pool), describe(model));
}

void PoolPair::unpin(Client& client, std::size_t index) {
  const BufferId buffer = client.pins[index];
  client.pins.erase(client.pins.begin() + static_cast<std::ptrdiff_t>(index));
  client.backend.unpin(buffer);
  client.model.unpin(buffer);
}

std::string PoolPair::compare_state() {
  std::string found = compare_pool();
  for (std::size_t i = 0; i < clients_.size() && found.empty(); ++i) found = compare_counters(i);
  return found;
}

std::string PoolPair::compare_pool() {
  std::vector<bool> resident(shape_.dataset_pages, false);
  for (BufferId id = 0; id < shape_.buffers; ++id) {
    const ModelBuffer& model = model_.buffer(id);
    if (model.page) resident[*model.page] = true;
    if (pool_.usage(id) == model.usage) continue;
    return difference(fmt::format("usage of buffer {}", id), pool_.usage(id), model.usage);
  }
  for (PageNumber page = 0; page < shape_.dataset_pages; ++page) {
    if (pool_.is_resident(page) == resident[page]) continue;
    return fmt::format("page {} is resident in only one of them", page);
  }
  for (int from = 0; from < model_.partitions(); ++from) {
    for (int to = 0; to < model_.partitions(); ++to) {
      if (pool_.weight(from, to) == model_.weight(from, to)) continue;
      return difference(fmt::format("weight[{}][{}]", from, to), pool_.weight(from, to),
                        model_.weight(from, to));
    }
  }
  return first_of(
      {difference("partitions", pool_.partitions(), model_.partitions()),
       difference("occupied buffers", pool_.occupied_buffers(), model_.occupied_buffers()),
       difference("laps", pool_.laps(), model_.laps())});
}

std::string PoolPair::compare_counters(std::size_t client) {
  const ModelCounters pool = observed(clients_[client]->counters);
  const ModelCounters& model = clients_[client]->model.counters();
  if (pool == model) return "";
  return difference(fmt::format("counters of client {}", client), describe(pool), describe(model));
}

std::string PoolPair::find_inconsistency() {
  for (const std::unique_ptr<Client>& client : clients_) {
    while (!client->pins.empty()) unpin(*client, 0);
  }
  return pool_.find_inconsistency();
}

namespace {

// Does the string to a new pair, which looks at its whole state every `compare_every` operations
// and at the end. Cuts the string behind the operation that showed a difference.
std::optional<Disagreement> run(const Trial& trial, std::vector<Operation> operations,
                                std::size_t compare_every) {
  PoolPair pair(trial.policy, trial.shape, trial.string.clients);
  std::string found;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    try {
      found = pair.apply(operations[i]);
      if (found.empty() && (i + 1) % compare_every == 0) found = pair.compare_state();
    } catch (const std::exception& error) {
      found = std::string("pool or model threw: ") + error.what();
    }
    if (found.empty()) continue;
    operations.resize(i + 1);
    return Disagreement{std::move(operations), found};
  }
  found = pair.compare_state();
  if (found.empty()) found = pair.find_inconsistency();
  if (found.empty()) return std::nullopt;
  return Disagreement{std::move(operations), found};
}

// Leaves out, one by one, the operations without which there still is a difference.
Disagreement shrink(const Trial& trial, Disagreement shortest) {
  for (std::size_t i = shortest.operations.size(); i-- > 0;) {
    std::vector<Operation> without = shortest.operations;
    if (i >= without.size()) continue;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (auto still = run(trial, std::move(without), 1)) shortest = *std::move(still);
  }
  return shortest;
}

}  // namespace

std::optional<Disagreement> find_disagreement(const Trial& trial) {
  constexpr std::size_t kCompareEvery = 50;
  const std::vector<Operation> operations = random_operations(trial.seed, trial.string);
  std::optional<Disagreement> found = run(trial, operations, kCompareEvery);
  if (!found) return std::nullopt;
  if (std::optional<Disagreement> earlier = run(trial, found->operations, 1)) found = earlier;
  return shrink(trial, *std::move(found));
}

std::string to_string(const Trial& trial, const Disagreement& disagreement) {
  std::string text = fmt::format(
      "{}\nseed {}, {} buffers, {} nodes; policy, where not stock's:", disagreement.difference,
      trial.seed, trial.shape.buffers, trial.shape.nodes.size());
  for (const PolicyOption& option : policy_options()) {
    const std::string value = policy_option(trial.policy, option.name);
    if (value == policy_option(PoolPolicy{}, option.name)) continue;
    text += fmt::format(" {}={}", option.name, value);
  }
  for (const Operation& operation : disagreement.operations) text += "\n  " + to_string(operation);
  return text;
}

}  // namespace numabench
