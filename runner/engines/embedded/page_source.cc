#include "runner/engines/embedded/page_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "hosts/error.h"
#include "workloads/random.h"

namespace numabench {
namespace page_format {
namespace {

constexpr std::uint64_t kWords = kPageBytes / sizeof(std::uint64_t);
constexpr std::uint64_t kHeaderWords = 2;
constexpr std::uint64_t kMark = 0x6e756d6162656e63;  // "numabenc"
constexpr std::uint64_t kTuplesPerPage = 61;         // of pgbench_accounts
constexpr std::uint64_t kTupleWords = (kWords - kHeaderWords) / kTuplesPerPage;
constexpr std::uint64_t kIndexTuples = 366;  // of pgbench_accounts_pkey

std::uint64_t word(const std::byte* bytes, std::uint64_t index) {
  std::uint64_t value;
  std::memcpy(&value, bytes + index * sizeof(value), sizeof(value));
  return value;
}

// Keys of a page ascend by one from here.
std::uint64_t first_key(PageNumber page) { return splitmix64(page) >> 1; }

}  // namespace

void write(PageNumber page, std::byte* destination) {
  std::uint64_t words[kWords];
  words[0] = page;
  words[1] = splitmix64(kMark ^ page);
  for (std::uint64_t i = kHeaderWords; i < kWords; ++i) words[i] = first_key(page) + i;
  std::memcpy(destination, words, sizeof(words));
}

std::string mismatch(PageNumber page, const std::byte* bytes) {
  const std::uint64_t number = word(bytes, 0);
  if (word(bytes, 1) != splitmix64(kMark ^ number)) return "not a page of ours";
  return number == page ? "" : fmt::format("page {}", number);
}

std::uint64_t read_tuple(const std::byte* bytes, std::uint64_t tuple) {
  const std::uint64_t first = kHeaderWords + tuple % kTuplesPerPage * kTupleWords;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < kTupleWords; ++i) sum += word(bytes, first + i);
  return sum;
}

std::uint64_t search(const std::byte* bytes, std::uint64_t slot) {
  std::uint64_t low = kHeaderWords;
  std::uint64_t high = kHeaderWords + kIndexTuples;
  const std::uint64_t wanted = word(bytes, kHeaderWords) + slot % kIndexTuples;
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (word(bytes, middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::uint64_t read_all_tuples(const std::byte* bytes) {
  std::uint64_t sum = 0;
  for (std::uint64_t tuple = 0; tuple < kTuplesPerPage; ++tuple) {
    sum += word(bytes, kHeaderWords + tuple * kTupleWords);
  }
  return sum;
}

}  // namespace page_format

namespace {

constexpr PageNumber kChunkPages = 128;  // written or warmed at once: 1 MiB

[[noreturn]] void fail(ErrorKind kind, const std::string& what, const std::string& path,
                       const std::string& remedy) {
  throw Error(kind, fmt::format("{} '{}' failed: {}", what, path, std::strerror(errno)), remedy);
}

int open_file(const std::string& path, int flags) {
  return ::open(path.c_str(), flags | O_CLOEXEC, 0600);
}

}  // namespace

PageSource::PageSource(const std::string& directory, Regime regime)
    : path_((std::filesystem::path(directory) / "numabench.pages").string()),
      direct_(regime == Regime::kRealIo) {
  std::error_code ignored;  // the open below says what is wrong
  std::filesystem::create_directories(directory, ignored);
  write_fd_ = open_file(path_, O_RDWR | O_CREAT);
  if (write_fd_ < 0) {
    fail(ErrorKind::kPreflight, "opening the backing file", path_,
         "set data_directory to a directory that can be written to");
  }
  read_fd_ = open_file(path_, O_RDONLY | (direct_ ? O_DIRECT : 0));
  if (read_fd_ < 0) {
    const int reason = errno;
    ::close(write_fd_);
    errno = reason;
    fail(ErrorKind::kPreflight, "opening the backing file for direct I/O", path_,
         "set data_directory to a filesystem with O_DIRECT, or use regimes: page-cache");
  }
  provided_ = valid_pages();
}

PageSource::~PageSource() {
  ::close(write_fd_);
  ::close(read_fd_);
  ::unlink(path_.c_str());
}

// Of a file that an earlier process has left; a kill may have cut its last chunk short.
PageNumber PageSource::valid_pages() const {
  struct stat status {};
  if (::fstat(write_fd_, &status) != 0) return 0;
  const auto whole =
      static_cast<PageNumber>(static_cast<std::uint64_t>(status.st_size) / kPageBytes);
  const PageNumber pages = whole / kChunkPages * kChunkPages;
  if (pages == 0) return 0;
  std::vector<std::byte> last(kPageBytes);
  const auto offset = static_cast<off_t>(kPageBytes) * (pages - 1);
  if (::pread(write_fd_, last.data(), kPageBytes, offset) != static_cast<ssize_t>(kPageBytes))
    return 0;
  return page_format::mismatch(pages - 1, last.data()).empty() ? pages : 0;
}

void PageSource::provide(PageNumber pages) {
  if (!direct_) warm(std::min(pages, provided_));
  if (pages <= provided_) return;
  append(provided_, pages);
  provided_ = pages;
  // Written back now, not in the measured window; direct reads would have to wait for it.
  if (::fdatasync(write_fd_) != 0) fail(ErrorKind::kRun, "writing", path_, "is the disk full?");
  if (direct_) ::posix_fadvise(write_fd_, 0, 0, POSIX_FADV_DONTNEED);
}

void PageSource::append(PageNumber first, PageNumber end) {
  std::vector<std::byte> chunk(kPageBytes * kChunkPages);
  for (PageNumber page = first; page < end; page += kChunkPages) {
    const PageNumber count = std::min(kChunkPages, end - page);
    for (PageNumber i = 0; i < count; ++i) {
      page_format::write(page + i, chunk.data() + kPageBytes * i);
    }
    const auto bytes = static_cast<ssize_t>(kPageBytes * count);
    const auto offset = static_cast<off_t>(kPageBytes) * page;
    if (::pwrite(write_fd_, chunk.data(), static_cast<std::size_t>(bytes), offset) != bytes) {
      fail(ErrorKind::kRun, "writing", path_, "the dataset needs as much space on this disk");
    }
  }
}

void PageSource::warm(PageNumber end) {
  std::vector<std::byte> chunk(kPageBytes * kChunkPages);
  for (PageNumber page = 0; page < end; page += kChunkPages) {
    const auto offset = static_cast<off_t>(kPageBytes) * page;
    if (::pread(read_fd_, chunk.data(), chunk.size(), offset) <= 0) {
      fail(ErrorKind::kRun, "reading", path_, "is the disk healthy?");
    }
  }
}

void PageSource::read(PageNumber page, std::byte* destination) const {
  const auto offset = static_cast<off_t>(kPageBytes) * page;
  const ssize_t bytes = ::pread(read_fd_, destination, kPageBytes, offset);
  if (bytes < 0) fail(ErrorKind::kRun, "reading", path_, "is the disk healthy?");
  const std::string found = bytes == static_cast<ssize_t>(kPageBytes)
                                ? page_format::mismatch(page, destination)
                                : fmt::format("{} bytes", bytes);
  if (found.empty()) return;
  throw Error(ErrorKind::kRun, fmt::format("reading page {} of '{}' gave {}", page, path_, found),
              "remove the file; does another program write to it?");
}

}  // namespace numabench
