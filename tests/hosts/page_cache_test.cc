#include "hosts/page_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "hosts/disk_stats.h"
#include "hosts/file_descriptor.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

constexpr std::size_t kBytes = 5'000'001;  // no multiple of a page

// mincore on a mapping of the test's own.
std::size_t resident_pages(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY));
  void* mapping = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file.get(), 0);
  std::array<unsigned char, kBytes / 4096 + 1> pages{};
  EXPECT_EQ(::mincore(mapping, kBytes, pages.data()), 0);
  ::munmap(mapping, kBytes);
  std::size_t resident = 0;
  for (const unsigned char page : pages) resident += page & 1;
  return resident;
}

class PageCache : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device_of(directory_.path()).empty()) GTEST_SKIP() << "files in memory stay there";
    if (::sysconf(_SC_PAGESIZE) != 4096) GTEST_SKIP() << "the test counts pages of 4 KiB";
    file_ = directory_.write("sub/file", std::string(kBytes, 'x'));
    directory_.write("empty", "");
    std::filesystem::create_symlink("/proc/kcore", directory_.path() + "/link");
  }

  const TemporaryDirectory directory_;
  std::string file_;
};

TEST_F(PageCache, IsEmptiedAndFilled) {
  ASSERT_GT(resident_pages(file_), 0u) << "just written";
  EXPECT_EQ(drop_cached_files(directory_.path()), 0u);
  EXPECT_EQ(resident_pages(file_), 0u);
  EXPECT_EQ(cached_bytes(directory_.path()), 0u);
  EXPECT_EQ(warm_page_cache(directory_.path()), kBytes);
  EXPECT_EQ(resident_pages(file_), kBytes / 4096 + 1);
  EXPECT_EQ(cached_bytes(directory_.path()), kBytes) << "not more than the file";
}

TEST_F(PageCache, IsCountedByThePage) {
  drop_cached_files(directory_.path());
  const FileDescriptor file(::open(file_.c_str(), O_RDONLY));
  ASSERT_EQ(::posix_fadvise(file.get(), 0, 0, POSIX_FADV_RANDOM), 0);  // no readahead
  std::array<char, 1> byte{};
  ASSERT_EQ(::pread(file.get(), byte.data(), 1, 1'000'000), 1);
  EXPECT_EQ(cached_bytes(directory_.path()), resident_pages(file_) * 4096);
  EXPECT_GT(cached_bytes(directory_.path()), 0u);
}

TEST_F(PageCache, KeepsWhatAProgramHasMapped) {
  const FileDescriptor file(::open(file_.c_str(), O_RDONLY));
  void* mapping = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file.get(), 0);
  ASSERT_NE(mapping, MAP_FAILED);
  EXPECT_GT(drop_cached_files(directory_.path()), 0u) << "and says so";
  ::munmap(mapping, kBytes);
}

}  // namespace
}  // namespace numabench
