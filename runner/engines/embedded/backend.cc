#include "runner/engines/embedded/backend.h"

#include "runner/engines/embedded/buffer_descriptor.h"
#include "runner/engines/embedded/clock_sweep.h"
#include "runner/engines/embedded/dense_map.h"
#include "runner/engines/embedded/mapping_table.h"
#include "runner/engines/embedded/spin.h"
#include "runner/engines/embedded/usage_rule.h"

namespace numabench {

using namespace buffer_state;

Backend::Backend(BufferPool& pool, BackendCounters& counters, PageReader reader,
                 std::function<Location()> location)
    : pool_(pool),
      counters_(&counters),
      reader_(std::move(reader)),
      strategy_(pool, std::move(location)),
      pin_increments_{pin_increments(pool.policy().usage, false),
                      pin_increments(pool.policy().usage, true)},
      admitted_usage_(admitted_usage(pool.policy())),
      reusable_usage_(reusable_usage(pool.policy().usage)) {}

Backend::PinIncrements Backend::pin_increments(PoolPolicy::Usage rule, bool in_ring) {
  PinIncrements increments{};
  for (std::uint32_t usage = 0; usage <= highest_usage(rule); ++usage) {
    increments[usage] = kOneRef + kOneUsage * (usage_after_pin(rule, usage, in_ring) - usage);
  }
  return increments;
}

ReadResult Backend::read(PageNumber page, BufferRing* ring) {
  counters_->accesses.add(1);
  if (!pool_.policy().rings) ring = nullptr;
  const BufferId resident = pin_resident(page, ring != nullptr);
  if (resident == kNoBuffer) return read_absent(page, ring);
  if (!is_valid(resident)) make_valid(page, resident);
  return {resident, true, kNoPage};
}

void Backend::unpin(BufferId buffer) {
  if (pins_.remove(buffer)) unpin_shared(buffer);
}

const std::byte* Backend::contents(BufferId buffer) const { return pool_.contents(buffer); }

void Backend::prefetch_mapping(PageNumber page) const {
  if (const DenseMap* map = pool_.dense_mapping()) map->prefetch(page);
}

void Backend::prefetch_descriptor(PageNumber page) const {
  const DenseMap* map = pool_.dense_mapping();
  if (map == nullptr) return;
  const BufferId buffer = map->find(page);
  if (buffer != kNoBuffer) __builtin_prefetch(&pool_.descriptor(buffer), 1);
}

// --- Pins
// -------------------------------------------------------------------------------------------

BufferId Backend::pin_resident(PageNumber page, bool in_ring) {
  return pool_.dense_mapping() != nullptr ? pin_dense(page, in_ring) : pin_hashed(page, in_ring);
}

BufferId Backend::pin_hashed(PageNumber page, bool in_ring) {
  const MappingTable& table = *pool_.hash_mapping();
  const MappingLock lock(table, page, MappingLock::Mode::kShared);
  const BufferId buffer = table.find(page);
  if (buffer != kNoBuffer) pin(buffer, in_ring);
  return buffer;
}

BufferId Backend::pin_dense(PageNumber page, bool in_ring) {
  for (Backoff backoff;; backoff.pause()) {
    const BufferId buffer = pool_.dense_mapping()->find(page);
    if (buffer == kNoBuffer || pin_if_tagged(buffer, page, in_ring)) return buffer;
    // It is just coming or just going; whoever moves it needs a few instructions more.
  }
}

bool Backend::pin_if_tagged(BufferId buffer, PageNumber page, bool in_ring) {
  BufferDescriptor& descriptor = pool_.descriptor(buffer);
  if (pins_.holds(buffer)) {
    if (descriptor.tag.load(std::memory_order_relaxed) != page) return false;
    pins_.add(buffer);
    return true;
  }
  const PinIncrements& increments = pin_increments_[in_ring ? 1 : 0];
  std::uint64_t state = descriptor.state.load(std::memory_order_acquire);
  do {
    if (!has(state, kTagValid)) return false;
    if (descriptor.tag.load(std::memory_order_relaxed) != page) return false;
  } while (!descriptor.state.compare_exchange_weak(state, state + increments[usage(state)],
                                                   std::memory_order_acquire));
  pins_.add(buffer);
  // Between the look at the tag and the pin it may have got another page; since the pin it cannot.
  if (descriptor.tag.load(std::memory_order_relaxed) == page) return true;
  unpin(buffer);
  return false;
}

void Backend::pin(BufferId buffer, bool in_ring) {
  if (!pins_.holds(buffer)) {
    const PinIncrements& increments = pin_increments_[in_ring ? 1 : 0];
    std::atomic<std::uint64_t>& word = pool_.descriptor(buffer).state;
    std::uint64_t state = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(state, state + increments[usage(state)],
                                       std::memory_order_acquire, std::memory_order_relaxed)) {
    }
  }
  pins_.add(buffer);
}

void Backend::unpin_shared(BufferId buffer) {
  pool_.descriptor(buffer).state.fetch_sub(kOneRef, std::memory_order_release);
}

// --- Misses
// -----------------------------------------------------------------------------------------

ReadResult Backend::read_absent(PageNumber page, BufferRing* ring) {
  const Victim victim = get_victim(ring);
  const BufferId present = enter(page, victim.buffer, ring != nullptr);
  const bool hit = present != kNoBuffer;
  if (hit) {
    // Another backend has brought the page in meanwhile: the victim stays without one.
    unpin_shared(victim.buffer);
  } else {
    counters_->reads.add(1);
  }
  const ReadResult result{hit ? present : victim.buffer, hit, victim.evicted};
  if (!is_valid(result.buffer)) make_valid(page, result.buffer);
  return result;
}

Backend::Victim Backend::get_victim(BufferRing* ring) {
  Allocation allocation;
  for (;;) {
    Victim victim;
    victim.buffer = ring != nullptr ? reuse_from(*ring) : kNoBuffer;
    const bool reused = victim.buffer != kNoBuffer;
    if (!reused) {
      victim.buffer = strategy_.get_buffer(allocation);
      if (ring != nullptr) ring->remember(victim.buffer);
    }
    if (invalidate(victim.buffer, victim.evicted)) {
      if (reused) counters_->ring_reuses.add(1);
      if (victim.evicted != kNoPage) counters_->evictions.add(1);
      record_allocation(allocation);
      return victim;
    }
    unpin_shared(victim.buffer);
    counters_->retries.add(1);
  }
}

BufferId Backend::reuse_from(BufferRing& ring) {
  const BufferId buffer = ring.advance();
  if (buffer == kNoBuffer) return kNoBuffer;
  std::atomic<std::uint64_t>& word = pool_.descriptor(buffer).state;
  std::uint64_t state = word.load(std::memory_order_relaxed);
  while (refcount(state) == 0 && usage(state) <= reusable_usage_) {
    if (word.compare_exchange_weak(state, state + kOneRef, std::memory_order_acquire,
                                   std::memory_order_relaxed)) {
      return buffer;
    }
  }
  return kNoBuffer;
}

// InvalidateVictimBuffer: takes the old page out of the mapping unless somebody has pinned it
// since.
bool Backend::invalidate(BufferId buffer, PageNumber& evicted) {
  BufferDescriptor& descriptor = pool_.descriptor(buffer);
  if (!has(descriptor.state.load(std::memory_order_relaxed), kTagValid)) return true;
  const PageNumber page = descriptor.tag.load(std::memory_order_relaxed);
  if (DenseMap* map = pool_.dense_mapping()) {
    if (!clear_state(buffer)) return false;
    map->erase(page);
  } else {
    MappingTable& table = *pool_.hash_mapping();
    const MappingLock lock(table, page, MappingLock::Mode::kExclusive);
    if (!clear_state(buffer)) return false;
    table.erase(page, buffer);
  }
  evicted = page;
  return true;
}

// Leaves nothing but our pin; false when it is not the only one.
bool Backend::clear_state(BufferId buffer) {
  std::atomic<std::uint64_t>& word = pool_.descriptor(buffer).state;
  std::uint64_t state = word.load(std::memory_order_relaxed);
  while (refcount(state) == 1) {
    if (word.compare_exchange_weak(state, kOneRef, std::memory_order_acq_rel,
                                   std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void Backend::record_allocation(const Allocation& allocation) {
  if (allocation.ticks == 0) return;  // served by a ring or the freelist
  counters_->ticks.add(allocation.ticks);
  counters_->victims.add(1);
  counters_->ticks_per_victim.add(allocation.ticks);
  (allocation.partition == strategy_.home() ? counters_->victims_home : counters_->victims_foreign)
      .add(1);
  if (allocation.forced) counters_->forced.add(1);
}

// --- The page enters
// --------------------------------------------------------------------------------

// The buffer that holds the page already, pinned, or kNoBuffer when `victim` holds it now.
BufferId Backend::enter(PageNumber page, BufferId victim, bool in_ring) {
  return pool_.dense_mapping() != nullptr ? enter_dense(page, victim, in_ring)
                                          : enter_hashed(page, victim, in_ring);
}

BufferId Backend::enter_hashed(PageNumber page, BufferId victim, bool in_ring) {
  MappingTable& table = *pool_.hash_mapping();
  const MappingLock lock(table, page, MappingLock::Mode::kExclusive);
  const BufferId present = table.find(page);
  if (present != kNoBuffer) {
    pin(present, in_ring);
    return present;
  }
  table.insert(page, victim);
  admit(page, victim);
  return kNoBuffer;
}

BufferId Backend::enter_dense(PageNumber page, BufferId victim, bool in_ring) {
  for (Backoff backoff;; backoff.pause()) {
    const BufferId present = pool_.dense_mapping()->insert(page, victim);
    if (present == kNoBuffer) {
      admit(page, victim);
      return kNoBuffer;
    }
    if (pin_if_tagged(present, page, in_ring)) return present;
  }
}

// Only we can reach the victim, whose state is our pin: without a tag nobody else can pin it.
void Backend::admit(PageNumber page, BufferId buffer) {
  BufferDescriptor& descriptor = pool_.descriptor(buffer);
  descriptor.tag.store(page, std::memory_order_relaxed);
  const std::uint64_t flags = reader_ ? kTagValid : kTagValid | kValid;
  descriptor.state.store(with_usage(kOneRef | flags, admitted_usage_), std::memory_order_release);
  pins_.add(buffer);
}

// --- Reading
// ----------------------------------------------------------------------------------------

bool Backend::is_valid(BufferId buffer) const {
  return has(pool_.descriptor(buffer).state.load(std::memory_order_acquire), kValid);
}

// Whoever finds a page not valid reads it, or waits for the one who is reading it.
void Backend::make_valid(PageNumber page, BufferId buffer) {
  if (!start_io(buffer)) return;
  try {
    if (reader_) reader_(page, pool_.contents(buffer));
  } catch (...) {
    end_io(buffer, 0);
    unpin(buffer);
    throw;
  }
  end_io(buffer, kValid);
}

// StartBufferIO: false when the page is valid, which another backend may have to finish first.
bool Backend::start_io(BufferId buffer) {
  std::atomic<std::uint64_t>& word = pool_.descriptor(buffer).state;
  for (Backoff backoff;; backoff.pause()) {
    std::uint64_t state = word.load(std::memory_order_acquire);
    if (has(state, kValid)) return false;
    if (!has(state, kIoInProgress) &&
        word.compare_exchange_weak(state, state | kIoInProgress, std::memory_order_acquire)) {
      return true;
    }
  }
}

// TerminateBufferIO.
void Backend::end_io(BufferId buffer, std::uint64_t result) {
  // One operation: nobody else changes these two flags while the I/O is ours.
  pool_.descriptor(buffer).state.fetch_add(result - kIoInProgress, std::memory_order_release);
}

}  // namespace numabench
