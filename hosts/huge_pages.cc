#include "hosts/huge_pages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <string>

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
