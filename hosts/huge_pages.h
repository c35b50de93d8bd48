// Huge pages of the default size: how many there are, and which of a mapping's exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace numabench {

/// Of /proc/meminfo; all zero on a kernel without huge pages.
struct HugePageCounts {
  std::size_t page_bytes = 0;
  std::uint64_t total = 0;
  std::uint64_t available = 0;  ///< free and not promised to an earlier mapping
};
HugePageCounts count_huge_pages();

/// Free huge pages of the default size on one node; nullopt if the kernel does not say.
std::optional<std::uint64_t> free_huge_pages_of_node(int node);

/// Maps into this process the huge pages of [address, address + bytes) that exist, whoever touched
/// them first, and creates none: mincore(2) does not see a huge page that only another process has
/// touched. False if the kernel cannot (userfaultfd with minor faults: Linux 5.13).
bool map_existing_huge_pages(const std::byte* address, std::size_t bytes, std::size_t page_bytes);

}  // namespace numabench
