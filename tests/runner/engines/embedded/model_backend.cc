#include <algorithm>

#include "tests/runner/engines/embedded/model_pool.h"

namespace numabench {

ModelRing::ModelRing(std::uint32_t pool_buffers)
    : slots_(std::max(1u, std::min(32u + 16u * 16u, pool_buffers / 8))),
      current_(slots_.size() - 1) {}

void ModelRing::advance() { current_ = (current_ + 1) % slots_.size(); }

ModelBackend::ModelBackend(ModelPool& pool, std::function<Backend::Location()> location)
    : pool_(pool),
      location_(std::move(location)),
      leftovers_(static_cast<std::size_t>(pool.partitions())) {}

std::optional<ReadResult> ModelBackend::read(PageNumber page, ModelRing* ring) {
  if (!pool_.policy().rings) ring = nullptr;
  counters_.accesses += 1;
  if (const std::optional<BufferId> resident = pool_.find(page)) {
    if (pins_[*resident] == 0) pool_.pin_resident(*resident, ring != nullptr);
    pins_[*resident] += 1;
    return ReadResult{*resident, true, kNoPage};
  }
  const std::optional<BufferId> victim = find_victim(ring);
  if (!victim) return std::nullopt;
  counters_.reads += 1;
  const std::optional<PageNumber> evicted = pool_.replace_page(*victim, page);
  if (evicted) counters_.evictions += 1;
  pins_[*victim] = 1;
  return ReadResult{*victim, false, evicted.value_or(kNoPage)};
}

void ModelBackend::unpin(BufferId buffer) {
  if (--pins_.at(buffer) > 0) return;
  pins_.erase(buffer);
  pool_.buffer(buffer).refcount -= 1;
}

std::optional<BufferId> ModelBackend::find_victim(ModelRing* ring) {
  if (ring == nullptr) return allocate();
  ring->advance();
  if (reusable(ring->slot())) {
    counters_.ring_reuses += 1;
    return ring->slot();
  }
  const std::optional<BufferId> victim = allocate();
  if (victim) ring->slot() = victim;
  return victim;
}

bool ModelBackend::reusable(std::optional<BufferId> slot) const {
  if (!slot) return false;
  const int most = pool_.policy().usage == PoolPolicy::Usage::kHotCool ? 0 : 1;
  const ModelBuffer& b = pool_.buffer(*slot);
  return b.refcount == 0 && b.usage <= most;
}

std::optional<BufferId> ModelBackend::allocate() {
  if (allocations_ % static_cast<std::uint64_t>(pool_.policy().home_refresh) == 0) look_up_home();
  allocations_ += 1;
  pool_.partition(*home_).requests += 1;
  if (const std::optional<BufferId> unused = pool_.take_from_freelist()) return unused;
  return sweep();
}

void ModelBackend::look_up_home() {
  const Backend::Location location = location_();
  const int per_node = pool_.partitions() / pool_.nodes();
  const int home =
      pool_.partitions() == 1 ? 0 : location.node_index * per_node + location.cpu % per_node;
  if (home == home_) return;
  home_ = home;
  target_ = home;
  budget_ = pool_.weight(home, home);
}

std::optional<BufferId> ModelBackend::sweep() {
  Sweep sweep;
  const bool by_tick = pool_.policy().balance == PoolPolicy::Balance::kPerTick;
  const std::optional<BufferId> victim =
      by_tick ? sweep_by_tick(sweep) : sweep_home_or_target(sweep);
  if (victim) count_victim(*victim, sweep);
  return victim;
}

std::optional<BufferId> ModelBackend::sweep_home_or_target(Sweep& sweep) {
  const bool balanced = pool_.policy().balance == PoolPolicy::Balance::kPerAllocation;
  const int first = balanced ? take_from_budget() : *home_;
  const int tries = pool_.policy().scan_all_partitions ? pool_.partitions() : 1;
  std::optional<BufferId> victim;
  for (int i = 0; i < tries && !victim; ++i) {
    victim = sweep_partition((first + i) % pool_.partitions(), sweep);
  }
  return victim;
}

std::optional<BufferId> ModelBackend::sweep_partition(int partition, Sweep& sweep) {
  const std::uint32_t size = pool_.partition(partition).size;
  sweep.successive_pinned = 0;
  std::optional<BufferId> victim;
  while (!victim && sweep.successive_pinned < size) victim = tick(partition, sweep);
  return victim;
}

std::optional<BufferId> ModelBackend::sweep_by_tick(Sweep& sweep) {
  std::optional<BufferId> victim;
  while (!victim && sweep.successive_pinned < pool_.size()) {
    victim = tick(take_from_budget(), sweep);
  }
  return victim;
}

std::optional<BufferId> ModelBackend::tick(int partition, Sweep& sweep) {
  const PoolPolicy& policy = pool_.policy();
  const BufferId id = next_id(partition);
  ModelBuffer& b = pool_.buffer(id);
  sweep.ticks += 1;
  if (b.refcount > 0) {
    sweep.successive_pinned += 1;
    return std::nullopt;
  }
  sweep.successive_pinned = 0;
  if (b.usage == 0) return id;
  const bool prefers_cool = policy.cooling == PoolPolicy::Cooling::kPreferCool;
  if (prefers_cool && sweep.ticks <= pool_.partition(partition).size) return std::nullopt;
  if (policy.bound > 0 && sweep.chances_spent >= policy.bound) {
    counters_.forced += 1;
    pool_.partition(partition).give_ups += 1;
    return id;
  }
  b.usage -= 1;
  sweep.chances_spent += 1;
  return std::nullopt;
}

BufferId ModelBackend::next_id(int partition) {
  ModelPartition& p = pool_.partition(partition);
  std::deque<BufferId>& batch = leftovers_.at(static_cast<std::size_t>(partition));
  if (batch.empty()) {
    const int claim = pool_.batched() ? pool_.policy().batch_size : 1;
    for (int i = 0; i < claim; ++i) {
      batch.push_back(p.first + static_cast<BufferId>(p.hand % p.size));
      p.hand += 1;
    }
  }
  const BufferId id = batch.front();
  batch.pop_front();
  return id;
}

int ModelBackend::take_from_budget() {
  const int parts = pool_.partitions();
  if (budget_ == 0) {
    do {
      target_ = (target_ + 1) % parts;
      budget_ = pool_.weight(*home_, target_);
    } while (budget_ == 0);
  }
  budget_ -= 1;
  return target_;
}

void ModelBackend::count_victim(BufferId victim, const Sweep& sweep) {
  int owner = 0;
  while (victim >= pool_.partition(owner).first + pool_.partition(owner).size) owner += 1;
  pool_.partition(owner).served += 1;
  counters_.victims += 1;
  counters_.ticks += sweep.ticks;
  counters_.tail = std::max(counters_.tail, sweep.ticks);
  (owner == *home_ ? counters_.victims_home : counters_.victims_foreign) += 1;
}

}  // namespace numabench
