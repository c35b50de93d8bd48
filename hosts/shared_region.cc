#include "hosts/shared_region.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <numaif.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "hosts/error.h"
#include "hosts/file_descriptor.h"
#include "hosts/huge_pages.h"
#include "hosts/memory_policy.h"
#include "hosts/system_error.h"
#include "hosts/units.h"

namespace numabench {
namespace {

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::size_t base_page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

// nullptr if the kernel refuses, with errno set.
std::byte* map_shared(std::size_t bytes, int flags) {
  void* address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | flags, -1, 0);
  return address == MAP_FAILED ? nullptr : static_cast<std::byte*>(address);
}

// A read is enough: a shared mapping has no zero page, so that reading creates the page too, and
// other processes may be writing.
void touch(const std::byte* page) {
  static_cast<void>(*static_cast<const volatile std::byte*>(page));
}

[[noreturn]] void refuse_huge_pages(std::size_t bytes) {
  const HugePageCounts counts = count_huge_pages();
  if (counts.page_bytes == 0) {
    throw Error(ErrorKind::kPreflight, "this kernel has no huge pages", "use huge_pages: off");
  }
  const std::uint64_t needed = round_up(bytes, counts.page_bytes) / counts.page_bytes;
  const std::uint64_t missing = needed > counts.available ? needed - counts.available : 0;
  throw Error(ErrorKind::kPreflight,
              fmt::format("{} of shared memory needs {} huge pages of {}, {} are free",
                          format_bytes(static_cast<double>(bytes)), needed,
                          format_bytes(static_cast<double>(counts.page_bytes)), counts.available),
              fmt::format("reserve them: echo {} > /proc/sys/vm/nr_hugepages, or use "
                          "huge_pages: try",
                          counts.total + missing));
}

void check_huge_pages_on(const IdSet& nodes, std::size_t bytes, std::size_t page_bytes) {
  const std::string lacking =
      huge_page_shortage({{MemoryPolicy::kBind, nodes, bytes / page_bytes}});
  if (lacking.empty()) return;
  throw Error(ErrorKind::kPreflight, "memory cannot be bound: " + lacking,
              "reserve more on these nodes (/sys/devices/system/node/node*/hugepages), or use "
              "the preferred policy");
}

// Adds to `bytes_by_node` where the pages of one chunk lie. False on a kernel without NUMA.
bool count_chunk(std::vector<void*>& pages, std::size_t page_bytes,
                 std::map<int, std::uint64_t>& bytes_by_node) {
  std::vector<int> nodes(pages.size(), -1);
  if (::move_pages(0, pages.size(), pages.data(), nullptr, nodes.data(), 0) < 0) {
    if (errno == ENOSYS) return false;
    throw_numa_error(ErrorKind::kRun, "move_pages", errno);
  }
  for (const int node : nodes) {
    // Negative: an errno, for a page that does not exist.
    if (node >= 0) bytes_by_node[node] += page_bytes;
  }
  return true;
}

}  // namespace

SharedRegion::SharedRegion(std::size_t bytes, HugePages huge_pages) {
  if (huge_pages != HugePages::kOff && map_huge(bytes)) return;
  if (huge_pages == HugePages::kOn) refuse_huge_pages(bytes);
  page_bytes_ = base_page_bytes();
  size_ = round_up(bytes, page_bytes_);
  data_ = map_shared(size_, 0);
  if (data_ == nullptr) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("mmap of {} of shared memory failed: {}",
                            format_bytes(static_cast<double>(size_)), std::strerror(errno)),
                "ask for less");
  }
}

SharedRegion SharedRegion::of_process(pid_t pid, std::uint64_t begin, std::size_t bytes,
                                      std::size_t page_bytes) {
  SharedRegion region;
  const std::string path = fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, begin, begin + bytes);
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.is_open()) return region;
  void* address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (address == MAP_FAILED) return region;
  region.data_ = static_cast<std::byte*>(address);
  region.size_ = bytes;
  region.page_bytes_ = page_bytes;
  return region;
}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      page_bytes_(std::exchange(other.page_bytes_, 0)) {}

SharedRegion& SharedRegion::operator=(SharedRegion&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(page_bytes_, other.page_bytes_);
  return *this;
}

SharedRegion::~SharedRegion() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

// Counted before the attempt: a kernel that may overcommit huge pages would grant a mapping whose
// pages it has to find, or fail to find, at the first touch.
bool SharedRegion::map_huge(std::size_t bytes) {
  const HugePageCounts counts = count_huge_pages();
  if (counts.page_bytes == 0) return false;
  const std::size_t size = round_up(bytes, counts.page_bytes);
  if (size / counts.page_bytes > counts.available) return false;
  data_ = map_shared(size, MAP_HUGETLB);
  if (data_ == nullptr) return false;
  size_ = size;
  page_bytes_ = counts.page_bytes;
  return true;
}

void SharedRegion::set_policy(std::size_t offset, std::size_t bytes, MemoryPolicy policy,
                              const IdSet& nodes) {
  const std::size_t start = offset / page_bytes_ * page_bytes_;
  const std::size_t end = round_up(offset + bytes, page_bytes_);
  if (end > size_) throw Error(ErrorKind::kInternal, "a memory policy beyond the shared region");
  if (policy == MemoryPolicy::kBind && page_bytes_ > base_page_bytes()) {
    check_huge_pages_on(nodes, end - start, page_bytes_);
  }
  const NodeMask mask(nodes);
  if (::mbind(data_ + start, end - start, kernel_mode(policy), mask.words(), mask.bits(), 0) != 0) {
    throw_numa_error(
        ErrorKind::kRun,
        fmt::format("mbind of {} to {}", format_bytes(static_cast<double>(end - start)),
                    kernel_policy_text(policy, nodes)),
        errno);
  }
}

void SharedRegion::prefault() {
  for (std::size_t offset = 0; offset < size_; offset += page_bytes_) touch(data_ + offset);
}

bool SharedRegion::map_existing_pages() const {
  if (page_bytes_ > base_page_bytes()) return map_existing_huge_pages(data_, size_, page_bytes_);
  std::vector<unsigned char> resident(size_ / page_bytes_);
  if (::mincore(data_, size_, resident.data()) != 0) throw_errno("mincore of the shared region");
  for (std::size_t page = 0; page < resident.size(); ++page) {
    if ((resident[page] & 1) != 0) touch(data_ + page * page_bytes_);
  }
  return true;
}

std::map<int, std::uint64_t> SharedRegion::bytes_per_node() const {
  constexpr std::size_t kChunkPages = 4096;
  std::map<int, std::uint64_t> bytes_by_node;
  if (size_ == 0 || !map_existing_pages()) return bytes_by_node;
  std::vector<void*> chunk;
  for (std::size_t offset = 0; offset < size_; offset += page_bytes_) {
    chunk.push_back(data_ + offset);
    if (chunk.size() < kChunkPages && offset + page_bytes_ < size_) continue;
    if (!count_chunk(chunk, page_bytes_, bytes_by_node)) return {};
    chunk.clear();
  }
  return bytes_by_node;
}

std::string to_string(SharedRegion::HugePages huge_pages) {
  switch (huge_pages) {
    case SharedRegion::HugePages::kOff:
      return "off";
    case SharedRegion::HugePages::kOn:
      return "on";
    case SharedRegion::HugePages::kTry:
      break;
  }
  return "try";
}

}  // namespace numabench
