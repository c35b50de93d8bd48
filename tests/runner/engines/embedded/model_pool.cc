#include "tests/runner/engines/embedded/model_pool.h"

#include <algorithm>
#include <cmath>

namespace numabench {

ModelPool::ModelPool(const PoolPolicy& policy, const PoolShape& shape)
    : policy_(policy), shape_(shape), buffers_(shape.buffers) {
  const int count = policy.partitions == 0 ? nodes() : policy.partitions;
  const std::uint32_t parts = static_cast<std::uint32_t>(count);
  BufferId first = 0;
  for (std::uint32_t p = 0; p < parts; ++p) {
    ModelPartition partition;
    partition.first = first;
    partition.size = shape.buffers / parts + (p < shape.buffers % parts ? 1 : 0);
    partitions_.push_back(partition);
    first += partition.size;
  }
  weights_.assign(parts, std::vector<int>(parts, 0));
  for (int p = 0; p < count; ++p) weight(p, p) = 100;
}

bool ModelPool::batched() const {
  switch (policy_.batch) {
    case PoolPolicy::Batch::kOff:
      return false;
    case PoolPolicy::Batch::kAuto:
      return nodes() > 1;
    case PoolPolicy::Batch::kForce:
      return true;
  }
  return false;
}

int& ModelPool::weight(int from, int to) {
  return weights_.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to));
}

std::optional<BufferId> ModelPool::find(PageNumber page) const {
  for (BufferId id = 0; id < buffers_.size(); ++id) {
    if (buffers_[id].page == page) return id;
  }
  return std::nullopt;
}

std::uint32_t ModelPool::occupied_buffers() const {
  const auto count = std::count_if(buffers_.begin(), buffers_.end(),
                                   [](const ModelBuffer& b) { return b.page.has_value(); });
  return static_cast<std::uint32_t>(count);
}

double ModelPool::laps() const {
  std::uint64_t advances = 0;
  for (const ModelPartition& partition : partitions_) advances += partition.hand;
  return static_cast<double>(advances) / static_cast<double>(size());
}

std::optional<BufferId> ModelPool::take_from_freelist() {
  if (!policy_.freelist || never_used_ == size()) return std::nullopt;
  return never_used_++;
}

void ModelPool::pin_resident(BufferId id, bool with_ring) {
  ModelBuffer& b = buffer(id);
  b.refcount += 1;
  switch (policy_.usage) {
    case PoolPolicy::Usage::kCount:
      b.usage = with_ring ? std::max(b.usage, 1) : std::min(b.usage + 1, 5);
      break;
    case PoolPolicy::Usage::kSecondChance:
      b.usage = 1;
      break;
    case PoolPolicy::Usage::kHotCool:
      b.usage = 2;
      break;
  }
}

std::optional<PageNumber> ModelPool::replace_page(BufferId victim, PageNumber page) {
  ModelBuffer& b = buffer(victim);
  const std::optional<PageNumber> old = b.page;
  b.page = page;
  b.refcount += 1;
  if (policy_.admission == PoolPolicy::Admission::kProbation) {
    b.usage = 0;
  } else {
    b.usage = policy_.usage == PoolPolicy::Usage::kHotCool ? 2 : 1;
  }
  return old;
}

void ModelPool::cycle() {
  if (policy_.balance != PoolPolicy::Balance::kOff) rebalance();
  if (!policy_.background_writer) return;
  for (ModelPartition& partition : partitions_) write_ahead(partition);
}

// In whole numbers, everything times P, so that floors are those of the exact quotients.
void ModelPool::rebalance() {
  const int parts = partitions();
  std::vector<std::int64_t> excess;  // P × (a_p - mean)
  std::vector<std::int64_t> requests;
  std::int64_t sum = 0;
  for (ModelPartition& partition : partitions_) {
    requests.push_back(static_cast<std::int64_t>(partition.requests));
    sum += requests.back();
    partition.requests = 0;
  }
  std::int64_t total_excess = 0;  // as large as the total of all lacks
  for (std::int64_t own : requests) {
    excess.push_back(parts * own - sum);
    total_excess += std::max<std::int64_t>(0, excess.back());
  }
  if (sum < 100 * parts || 10 * total_excess < sum) return;

  for (int p = 0; p < parts; ++p) {
    const std::size_t from = static_cast<std::size_t>(p);
    const std::int64_t own = excess[from] <= 0 ? 100 : 100 * sum / (parts * requests[from]);
    for (int q = 0; q < parts; ++q) {
      const std::int64_t lack = -excess[static_cast<std::size_t>(q)];
      std::int64_t fresh = 0;
      if (q == p) {
        fresh = own;
      } else if (excess[from] > 0 && lack > 0) {
        fresh = (100 - own) * lack / total_excess;
      }
      weight(p, q) = static_cast<int>((weight(p, q) + fresh) / 2);
    }
  }
}

void ModelPool::write_ahead(ModelPartition& partition) {
  ModelWriter& w = partition.writer;
  const bool spending = policy_.cooling == PoolPolicy::Cooling::kPreferCool ||
                        (policy_.background_writer_spends && partition.give_ups > w.last_give_ups);
  w.last_give_ups = partition.give_ups;

  const std::uint64_t hand = partition.hand;
  const double size = partition.size;
  const double allocations = static_cast<double>(partition.served);
  const double advance = static_cast<double>(hand - w.last_hand);
  partition.served = 0;
  w.last_hand = hand;
  if (advance > 0 && allocations > 0) w.density += (advance / allocations - w.density) / 16;

  w.position = std::max(w.position, hand);
  const double reusable_ahead = static_cast<double>(w.position - hand) / w.density;  // r0
  if (allocations >= w.smoothed) {
    w.smoothed = allocations;
  } else {
    w.smoothed += (allocations - w.smoothed) / 16;
  }
  const double want =
      std::max(std::floor(2 * w.smoothed), std::floor(size / 600) + std::floor(reusable_ahead));

  double reusable = reusable_ahead;  // r
  double scanned = 0;
  while (w.position < hand + partition.size && reusable < want) {
    ModelBuffer& b = buffer(partition.first + static_cast<BufferId>(w.position % partition.size));
    w.position += 1;
    scanned += 1;
    if (b.refcount > 0) continue;
    if (b.usage > 0) {
      if (!spending) continue;
      b.usage -= 1;
    }
    if (b.usage == 0) reusable += 1;
  }
  const double found = reusable - reusable_ahead;
  if (scanned > 0 && found > 0) w.density += (scanned / found - w.density) / 16;
}

}  // namespace numabench
