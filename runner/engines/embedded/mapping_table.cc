#include "runner/engines/embedded/mapping_table.h"

#include <algorithm>
#include <bit>
#include <new>

#include "hosts/error.h"
#include "workloads/random.h"

namespace numabench {
namespace {

// A power of two and at least one bucket a lock, so that a bucket belongs to one partition.
std::uint32_t bucket_count(std::uint32_t buffers) {
  return std::bit_ceil(std::max(buffers, MappingTable::kPartitions));
}

void check_lock(int result, const char* what) {
  if (result != 0) throw Error(ErrorKind::kInternal, what);
}

}  // namespace

std::size_t MappingTable::bytes(std::uint32_t buffers) {
  return sizeof(Lock) * kPartitions + sizeof(std::uint32_t) * bucket_count(buffers) +
         sizeof(Entry) * buffers;
}

MappingTable::MappingTable(std::byte* memory, std::uint32_t buffers)
    : buffers_(buffers), bucket_mask_(bucket_count(buffers) - 1) {
  locks_ = reinterpret_cast<Lock*>(memory);
  buckets_ = reinterpret_cast<std::uint32_t*>(locks_ + kPartitions);
  entries_ = reinterpret_cast<Entry*>(buckets_ + bucket_mask_ + 1);

  pthread_rwlockattr_t shared;
  check_lock(pthread_rwlockattr_init(&shared), "pthread_rwlockattr_init failed");
  check_lock(pthread_rwlockattr_setpshared(&shared, PTHREAD_PROCESS_SHARED),
             "this system has no process-shared locks");
  for (std::uint32_t i = 0; i < kPartitions; ++i) {
    check_lock(pthread_rwlock_init(&locks_[i].rwlock, &shared), "pthread_rwlock_init failed");
  }
  pthread_rwlockattr_destroy(&shared);
}

std::uint32_t MappingTable::bucket_of(PageNumber page) const {
  return static_cast<std::uint32_t>(splitmix64(page)) & bucket_mask_;
}

pthread_rwlock_t& MappingTable::lock_of(PageNumber page) const {
  return locks_[bucket_of(page) % kPartitions].rwlock;
}

BufferId MappingTable::find(PageNumber page) const {
  for (std::uint32_t link = buckets_[bucket_of(page)]; link != 0; link = entries_[link - 1].next) {
    if (entries_[link - 1].page == page) return link - 1;
  }
  return kNoBuffer;
}

void MappingTable::insert(PageNumber page, BufferId buffer) {
  std::uint32_t& bucket = buckets_[bucket_of(page)];
  entries_[buffer] = {page, bucket};
  bucket = buffer + 1;
}

void MappingTable::erase(PageNumber page, BufferId buffer) {
  std::uint32_t* link = &buckets_[bucket_of(page)];
  while (*link != buffer + 1) {
    if (*link == 0) throw Error(ErrorKind::kInternal, "a buffer's page is not in the mapping");
    link = &entries_[*link - 1].next;
  }
  *link = entries_[buffer].next;
}

std::uint64_t MappingTable::entries() const {
  std::uint64_t count = 0;
  for (std::uint32_t bucket = 0; bucket <= bucket_mask_; ++bucket) {
    for (std::uint32_t link = buckets_[bucket]; link != 0; link = entries_[link - 1].next) {
      if (++count > buffers_) return count;
    }
  }
  return count;
}

MappingLock::MappingLock(const MappingTable& table, PageNumber page, Mode mode)
    : lock_(table.lock_of(page)) {
  check_lock(mode == Mode::kShared ? pthread_rwlock_rdlock(&lock_) : pthread_rwlock_wrlock(&lock_),
             "a mapping lock could not be taken");
}

MappingLock::~MappingLock() { pthread_rwlock_unlock(&lock_); }

}  // namespace numabench
