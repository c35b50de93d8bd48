#include "hosts/huge_pages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "hosts/file_descriptor.h"
#include "hosts/files.h"

namespace numabench {
namespace {

// "2048" and "2048 kB" -> 2048; 0 if there is no number.
std::uint64_t leading_number(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A userfaultfd that has `address` registered for minor faults, those on pages that exist but are
// not mapped; none if the kernel or the sandbox refuses.
FileDescriptor register_minor_faults(std::uint64_t address, std::size_t bytes) {
  FileDescriptor descriptor(
      static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_MINOR_HUGETLBFS;
  uffdio_register range{};
  range.range = {address, bytes};
  range.mode = UFFDIO_REGISTER_MODE_MINOR;
  const bool registered = descriptor.is_open() &&
                          ::ioctl(descriptor.get(), UFFDIO_API, &api) == 0 &&
                          ::ioctl(descriptor.get(), UFFDIO_REGISTER, &range) == 0;
  if (!registered) descriptor.reset();
  return descriptor;
}

// Where each node must have a share of its own, and does not only help out the others.
bool is_shared_out(const HugePageDemand& demand) {
  return demand.policy == MemoryPolicy::kInterleave ||
         (demand.policy == MemoryPolicy::kBind && demand.nodes.size() == 1);
}

// Weights can be changed until the pages are touched: only the sum is certain.
bool is_joint(const HugePageDemand& demand) {
  return !is_shared_out(demand) && (demand.policy == MemoryPolicy::kBind ||
                                    demand.policy == MemoryPolicy::kWeightedInterleave);
}

std::map<int, std::uint64_t> shares_of(const std::vector<HugePageDemand>& demands) {
  std::map<int, std::uint64_t> shares;
  for (const HugePageDemand& demand : demands) {
    if (!is_shared_out(demand)) continue;
    const std::uint64_t share = (demand.pages + demand.nodes.size() - 1) / demand.nodes.size();
    for (const int node : demand.nodes) shares[node] += share;
  }
  return shares;
}

std::string shortage(const IdSet& nodes, std::uint64_t free, std::uint64_t wanted) {
  return fmt::format("node{} {} {} {} free huge pages of the {} wanted there",
                     nodes.size() == 1 ? "" : "s", format_id_list(nodes),
                     nodes.size() == 1 ? "has" : "have", free, wanted);
}

}  // namespace

HugePageCounts count_huge_pages() {
  const std::string meminfo = read_text_file("/proc/meminfo").value_or("");
  const auto number = [&](const char* label) {
    return leading_number(labelled_value(meminfo, label).value_or(""));
  };
  const std::uint64_t free = number("HugePages_Free");
  const std::uint64_t promised = number("HugePages_Rsvd");
  return {number("Hugepagesize") * 1024, number("HugePages_Total"),
          free > promised ? free - promised : 0};
}

std::optional<std::uint64_t> free_huge_pages_of_node(int node) {
  const auto text = read_text_file(
      fmt::format("/sys/devices/system/node/node{}/hugepages/hugepages-{}kB/free_hugepages", node,
                  count_huge_pages().page_bytes / 1024));
  if (!text) return std::nullopt;
  return leading_number(*text);
}

std::string huge_page_shortage(
    const std::vector<HugePageDemand>& demands,
    const std::function<std::optional<std::uint64_t>(int node)>& free_on) {
  std::vector<std::string> lacking;
  std::map<int, std::uint64_t> shares = shares_of(demands);
  for (const auto& [node, wanted] : shares) {
    const std::uint64_t free = free_on(node).value_or(0);
    if (free < wanted) lacking.push_back(shortage({node}, free, wanted));
  }
  for (const HugePageDemand& demand : demands) {
    if (!is_joint(demand)) continue;
    std::uint64_t left = 0;
    for (const int node : demand.nodes) {
      const std::uint64_t free = free_on(node).value_or(0);
      left += free - std::min(free, shares[node]);
    }
    if (left < demand.pages) lacking.push_back(shortage(demand.nodes, left, demand.pages));
  }
  return fmt::format("{}", fmt::join(lacking, ", "));
}

bool map_existing_huge_pages(const std::byte* address, std::size_t bytes, std::size_t page_bytes) {
  const auto start = reinterpret_cast<std::uint64_t>(address);
  // The registration ends with the descriptor.
  const FileDescriptor descriptor = register_minor_faults(start, bytes);
  if (!descriptor.is_open()) return false;
  for (std::size_t offset = 0; offset < bytes; offset += page_bytes) {
    uffdio_continue page{};
    page.range = {start + offset, page_bytes};
    page.mode = UFFDIO_CONTINUE_MODE_DONTWAKE;
    // Fails with EFAULT where no page exists and with EEXIST where it is mapped already.
    ::ioctl(descriptor.get(), UFFDIO_CONTINUE, &page);
  }
  return true;
}

}  // namespace numabench
