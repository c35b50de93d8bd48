// An anonymous MAP_SHARED region, as a server's shared memory: huge pages where there are any, a
// NUMA policy by range, and a census of the node each page really lies on.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "hosts/id_set.h"
#include "hosts/placement.h"

namespace numabench {

/// Movable owner of one mapping; zero-filled. Children forked later see the same address.
class SharedRegion {
 public:
  enum class HugePages { kOff, kTry, kOn };  ///< PostgreSQL's huge_pages

  SharedRegion() = default;
  /// Throws Error(kPreflight) when kOn is asked and there are too few free huge pages, or when the
  /// mapping fails.
  SharedRegion(std::size_t bytes, HugePages huge_pages);
  /// The shared mapping that process `pid` has at `begin`, `bytes` long and of pages of
  /// `page_bytes`, mapped here too: the same pages, and none is created. Of size 0 where the kernel
  /// does not let us: /proc/PID/map_files is root's.
  static SharedRegion of_process(pid_t pid, std::uint64_t begin, std::size_t bytes,
                                 std::size_t page_bytes);
  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&& other) noexcept;
  ~SharedRegion();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }              ///< rounded up to the page size in use
  std::size_t page_bytes() const { return page_bytes_; }  ///< 4096 or the huge page size

  /// mbind of a page-aligned range (`offset` is rounded down, its end up); only pages created later
  /// obey it. Throws Error(kRun) with the failed call and, for EPERM, the missing capability;
  /// Error(kPreflight) when kBind asks for more huge pages than `nodes` have free, since touching
  /// one too many would be a bus error.
  void set_policy(std::size_t offset, std::size_t bytes, MemoryPolicy policy, const IdSet& nodes);

  /// Touches every page from the calling process, which places it by the policy in force.
  void prefault();

  /// Bytes per node of the pages that exist now; pages nobody has touched are not counted, and none
  /// is created. The truth is the kernel's move_pages(2), which sees only what is mapped here, so
  /// that the pages other processes have touched are mapped first: mincore(2) finds them, and
  /// userfaultfd(2) the huge ones. Empty where the kernel cannot tell (no NUMA support, or huge
  /// pages before Linux 5.13). Throws Error(kRun) when it refuses to.
  std::map<int, std::uint64_t> bytes_per_node() const;

 private:
  bool map_huge(std::size_t bytes);
  bool map_existing_pages() const;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t page_bytes_ = 0;
};

/// "off", "try", "on"
std::string to_string(SharedRegion::HugePages huge_pages);

}  // namespace numabench
