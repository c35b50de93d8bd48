// The backing file of the regimes that read, and what is in its pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runner/config/experiment.h"
#include "workloads/dataset.h"

namespace numabench {

/// What a page holds: a header that says which page it is, then ascending keys, so that a page can
/// be searched as an index page is and a page from the wrong place is noticed. A page depends on
/// its number alone, so one file serves every smaller dataset.
namespace page_format {

void write(PageNumber page, std::byte* destination);
/// Empty if `bytes` is `page`, else what it is instead.
std::string mismatch(PageNumber page, const std::byte* bytes);

/// What a query does with a heap page: reads the words of one tuple.
std::uint64_t read_tuple(const std::byte* bytes, std::uint64_t tuple);
/// What a query does with an index page: a binary search.
std::uint64_t search(const std::byte* bytes, std::uint64_t slot);
/// What a scan does: a word of each of the 61 tuples.
std::uint64_t read_all_tuples(const std::byte* bytes);

}  // namespace page_format

/// The file; removed by the destructor. One that a killed process left behind is used again.
class PageSource {
 public:
  /// Read directly from the device for kRealIo, through the page cache for the others. Throws
  /// Error(kPreflight) when the file cannot be made or the filesystem has no direct I/O.
  PageSource(const std::string& directory, Regime regime);
  PageSource(const PageSource&) = delete;
  PageSource& operator=(const PageSource&) = delete;
  ~PageSource();

  /// Makes the file hold at least pages 0 .. pages - 1; unless read directly they are in the page
  /// cache afterwards. Throws Error(kRun).
  void provide(PageNumber pages);

  /// Reads a page into 8 KiB aligned to a memory page and checks that it is that page. Throws
  /// Error(kRun). Usable by forked processes at once.
  void read(PageNumber page, std::byte* destination) const;

  const std::string& path() const { return path_; }

 private:
  PageNumber valid_pages() const;
  void append(PageNumber first, PageNumber end);
  void warm(PageNumber end);

  std::string path_;
  bool direct_;
  int write_fd_ = -1;
  int read_fd_ = -1;
  PageNumber provided_ = 0;
};

}  // namespace numabench
