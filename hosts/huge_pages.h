// Huge pages of the default size: how many there are, whether the nodes that a policy names have
// enough, and which of a mapping's exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hosts/id_set.h"
#include "hosts/placement.h"

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

/// Huge pages that memory under a policy will take.
struct HugePageDemand {
  MemoryPolicy policy = MemoryPolicy::kDefault;
  IdSet nodes;
  std::uint64_t pages = 0;
};

/// What the nodes lack for all of `demands` together: "node 1 has 3 free huge pages of the 8 wanted
/// there"; empty: nothing. Bound memory would die of a bus error there; interleaved memory would
/// lie on other nodes, and nobody would say so, so that each node must have its share. The other
/// policies want no node's.
std::string huge_page_shortage(
    const std::vector<HugePageDemand>& demands,
    const std::function<std::optional<std::uint64_t>(int node)>& free_on = free_huge_pages_of_node);

/// Maps into this process the huge pages of [address, address + bytes) that exist, whoever touched
/// them first, and creates none: mincore(2) does not see a huge page that only another process has
/// touched. False if the kernel cannot (userfaultfd with minor faults: Linux 5.13).
bool map_existing_huge_pages(const std::byte* address, std::size_t bytes, std::size_t page_bytes);

}  // namespace numabench
