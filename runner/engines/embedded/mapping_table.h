// Which buffer holds a page: PostgreSQL's buf_table.c, a chained hash table under 128 partition
// locks.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "runner/engines/embedded/buffer_pool.h"

namespace numabench {

/// A view of the table in shared memory; copies refer to the same table. Every function but
/// entries() needs the lock of the page's partition (MappingLock).
class MappingTable {
 public:
  static constexpr std::uint32_t kPartitions = 128;

  /// Bytes of shared memory for a pool of this size.
  static std::size_t bytes(std::uint32_t buffers);

  MappingTable() = default;
  /// `memory` is zero-filled, aligned to 128 bytes and outlives the table. Makes the locks.
  MappingTable(std::byte* memory, std::uint32_t buffers);

  BufferId find(PageNumber page) const;  ///< kNoBuffer if the page is not there
  void insert(PageNumber page, BufferId buffer);
  void erase(PageNumber page, BufferId buffer);

  /// Entries of all chains; at most `buffers` + 1, so that a cycle is noticed. While nobody uses
  /// it.
  std::uint64_t entries() const;

 private:
  friend class MappingLock;

  /// One a lock, so that neighbours do not share a cache line (or its prefetched buddy).
  struct alignas(128) Lock {
    pthread_rwlock_t rwlock;
  };
  /// The entry of buffer b is entries_[b], since a buffer holds at most one page.
  struct Entry {
    PageNumber page;
    std::uint32_t next;  ///< as in a bucket
  };

  std::uint32_t bucket_of(PageNumber page) const;
  pthread_rwlock_t& lock_of(PageNumber page) const;

  std::uint32_t buffers_ = 0;
  std::uint32_t bucket_mask_ = 0;
  Lock* locks_ = nullptr;
  std::uint32_t* buckets_ = nullptr;  ///< 1 + the buffer id of the chain's first entry; 0: empty
  Entry* entries_ = nullptr;
};

/// Holds the lock of the partition that a page belongs to.
class MappingLock {
 public:
  enum class Mode { kShared, kExclusive };
  MappingLock(const MappingTable& table, PageNumber page, Mode mode);
  MappingLock(const MappingLock&) = delete;
  MappingLock& operator=(const MappingLock&) = delete;
  ~MappingLock();

 private:
  pthread_rwlock_t& lock_;
};

}  // namespace numabench
