#include "runner/engines/postgres/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "hosts/error.h"
#include "hosts/file_descriptor.h"
#include "hosts/files.h"
#include "hosts/process.h"
#include "hosts/shared_region.h"
#include "hosts/system_error.h"

namespace numabench {
namespace {

std::uint64_t bytes_of(const NumaMapping& mapping) {
  return std::accumulate(mapping.bytes_by_node.begin(), mapping.bytes_by_node.end(),
                         std::uint64_t{0},
                         [](std::uint64_t sum, const auto& node) { return sum + node.second; });
}

/// What a server's main shared memory is called: anonymous, anonymous of huge pages, System V's.
/// Dynamic shared memory is named otherwise.
bool is_main_shared_memory(std::string_view file) {
  constexpr std::array<std::string_view, 3> kNames = {"/dev/zero", "/anon_hugepage", "/SYSV"};
  return std::ranges::any_of(kNames, [&](std::string_view name) { return file.starts_with(name); });
}

/// By address, each as the process sees it that has touched most of it: forked from one postmaster,
/// all have it at the same place.
std::map<std::uint64_t, NumaMapping> best_views(pid_t postmaster) {
  std::vector<pid_t> processes = children_of(postmaster);
  processes.push_back(postmaster);
  std::map<std::uint64_t, NumaMapping> best;
  for (const pid_t process : processes) {
    for (NumaMapping& mapping : numa_mappings(process).value_or(std::vector<NumaMapping>{})) {
      if (!is_main_shared_memory(mapping.file)) continue;
      NumaMapping& view = best[mapping.address];
      if (bytes_of(mapping) >= bytes_of(view)) view = std::move(mapping);
    }
  }
  return best;
}

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Of a line of /proc/PID/maps: "7f1c00000000-7f1c40000000 rw-s 00000000 00:01 77 /dev/zero".
std::optional<AddressRange> range_of_shared_memory(const std::string& line) {
  std::istringstream words(line);
  std::string addresses, permissions, offset, device, inode, file;
  words >> addresses >> permissions >> offset >> device >> inode >> file;
  if (!is_main_shared_memory(file)) return std::nullopt;
  AddressRange range;
  const char* end = addresses.data() + addresses.size();
  const auto [dash, error] = std::from_chars(addresses.data(), end, range.begin, 16);
  if (error != std::errc() || dash == end) return std::nullopt;
  std::from_chars(dash + 1, end, range.end, 16);
  return range;
}

std::vector<AddressRange> shared_memory_ranges(pid_t pid) {
  std::vector<AddressRange> ranges;
  std::istringstream maps(read_text_file(fmt::format("/proc/{}/maps", pid)).value_or(""));
  for (std::string line; std::getline(maps, line);) {
    if (const auto range = range_of_shared_memory(line)) ranges.push_back(*range);
  }
  return ranges;
}

/// Of the mapping that `process` has at `address`; nothing where we may not map it, or may not ask
/// where its pages are (a container's filter of system calls).
std::map<int, std::uint64_t> all_pages(pid_t process, std::uint64_t address,
                                       std::uint64_t page_bytes) {
  for (const AddressRange& range : shared_memory_ranges(process)) {
    if (range.begin != address) continue;
    try {
      return SharedRegion::of_process(process, address, range.end - range.begin, page_bytes)
          .bytes_per_node();
    } catch (const Error&) {
      return {};
    }
  }
  return {};
}

/// A byte of each page, whatever the size of pages. False when the kernel does not let us.
bool touch(const FileDescriptor& memory, const AddressRange& range) {
  constexpr std::uint64_t kSmallestPage = 4096;
  for (std::uint64_t address = range.begin; address < range.end; address += kSmallestPage) {
    char byte = 0;
    if (::pread(memory.get(), &byte, 1, static_cast<off_t>(address)) != 1) return false;
  }
  return true;
}

}  // namespace

std::vector<NumaMapping> main_shared_memory(pid_t postmaster) {
  std::vector<NumaMapping> mappings;
  for (auto& [address, mapping] : best_views(postmaster)) {
    std::map<int, std::uint64_t> all = all_pages(postmaster, address, mapping.page_bytes);
    if (!all.empty()) mapping.bytes_by_node = std::move(all);
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

// A page of shared memory comes from where the policy and the CPU of the process that touches it
// say, not those of the process whose memory it is read through.
void touch_shared_memory(pid_t postmaster, const Placement& placement) {
  const std::string path = fmt::format("/proc/{}/mem", postmaster);
  const FileDescriptor memory(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!memory.is_open()) throw_errno("open of " + path);
  const std::vector<AddressRange> ranges = shared_memory_ranges(postmaster);
  Worker worker = Worker::fork(placement, [&] {
    return std::ranges::all_of(ranges, [&](const auto& range) { return touch(memory, range); }) ? 0
                                                                                                : 1;
  });
  if (!ranges.empty() && worker.wait(std::chrono::hours(1)).ok()) return;
  throw Error(ErrorKind::kRun, "the server's shared memory could not be touched",
              "leave `touch` out of the placement of the server");
}

}  // namespace numabench
