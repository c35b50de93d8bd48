#include "hosts/shared_region.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "hosts/huge_pages.h"
#include "hosts/process.h"
#include "hosts/topology.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/kernel_view.h"

namespace numabench {
namespace {

using ::testing::HasSubstr;
using HugePages = SharedRegion::HugePages;

constexpr std::size_t kMiB = 1 << 20;

std::uint64_t total_bytes(const SharedRegion& region) {
  std::uint64_t bytes = 0;
  for (const auto& [node, bytes_of_node] : region.bytes_per_node()) bytes += bytes_of_node;
  return bytes;
}

void touch_in_a_child(const SharedRegion& region, const std::vector<std::size_t>& pages) {
  Worker worker = Worker::fork({}, [&] {
    for (const std::size_t page : pages) region.data()[page * region.page_bytes()] = std::byte{1};
    return 0;
  });
  ASSERT_TRUE(worker.wait(std::chrono::seconds(60)).ok());
}

int first_node() { return *parse_id_list(status_value(::getpid(), "Mems_allowed_list"))->begin(); }

// The line of /proc/self/numa_maps of the mapping at `address`.
std::string numa_maps_line(const std::byte* address) {
  const std::string start = fmt::format("{:x} ", reinterpret_cast<std::uintptr_t>(address));
  std::istringstream maps(proc_file(::getpid(), "numa_maps"));
  for (std::string line; std::getline(maps, line);) {
    if (line.starts_with(start)) return line;
  }
  return "";
}

TEST(SharedRegion, IsZeroFilledAndRoundedUpToPages) {
  const SharedRegion region(10'000, HugePages::kOff);
  EXPECT_EQ(region.page_bytes(), static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(region.size() % region.page_bytes(), 0u);
  EXPECT_GE(region.size(), 10'000u);
  EXPECT_LT(region.size(), 10'000u + region.page_bytes());
  EXPECT_TRUE(std::all_of(region.data(), region.data() + region.size(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(SharedRegion, IsSharedWithChildren) {
  const SharedRegion region(kMiB, HugePages::kOff);
  touch_in_a_child(region, {0, 17});
  EXPECT_EQ(region.data()[0], std::byte{1});
  EXPECT_EQ(region.data()[17 * region.page_bytes()], std::byte{1});
  EXPECT_EQ(region.data()[18 * region.page_bytes()], std::byte{0});
}

TEST(SharedRegion, CensusCountsNothingBeforeTheFirstTouch) {
  const SharedRegion region(4 * kMiB, HugePages::kOff);
  EXPECT_EQ(total_bytes(region), 0u);
}

TEST(SharedRegion, CensusCountsThePagesThatOnlyAChildHasTouched) {
  const SharedRegion region(32 * kMiB, HugePages::kOff);  // more than one chunk of the census
  touch_in_a_child(region, {0, 7, 100, 4095, 4096, 8191});
  EXPECT_EQ(total_bytes(region), 6 * region.page_bytes());
  EXPECT_EQ(total_bytes(region), 6 * region.page_bytes()) << "counting created no page";
  touch_in_a_child(region, {7, 8});
  EXPECT_EQ(total_bytes(region), 7 * region.page_bytes());
}

TEST(SharedRegion, CensusAgreesWithNumaMaps) {
  const SharedRegion region(kMiB, HugePages::kOff);
  touch_in_a_child(region, {1, 2, 3});
  const auto census = region.bytes_per_node();  // maps them here, where numa_maps looks
  const std::string line = numa_maps_line(region.data());
  if (line.empty()) GTEST_SKIP() << "the kernel has no numa_maps";
  for (const auto& [node, bytes] : census) {
    EXPECT_THAT(line, HasSubstr(fmt::format(" N{}={} ", node, bytes / region.page_bytes())));
  }
  EXPECT_FALSE(census.empty());
}

std::uint64_t address_of(const SharedRegion& region) {
  return reinterpret_cast<std::uintptr_t>(region.data());
}

SharedRegion seen_from_outside(const SharedRegion& region) {
  return SharedRegion::of_process(::getpid(), address_of(region), region.size(),
                                  region.page_bytes());
}

// Other tests have held the census itself against numa_maps.
TEST(SharedRegion, OfAProcessHasThePagesThatAreThereAndMakesNone) {
  SharedRegion region(4 * kMiB, HugePages::kOff);
  touch_in_a_child(region, {3, 17, 600});
  const SharedRegion seen = seen_from_outside(region);
  if (::geteuid() != 0) GTEST_SKIP() << "/proc/PID/map_files is root's";
  ASSERT_EQ(seen.size(), region.size());
  EXPECT_EQ(seen.bytes_per_node(), region.bytes_per_node());
  EXPECT_EQ(total_bytes(seen), 3 * region.page_bytes());
  EXPECT_EQ(seen.data()[17 * region.page_bytes()], std::byte{1});
}

TEST(SharedRegion, OfAProcessIsEmptyWhereThereIsNoSuchMapping) {
  const SharedRegion region(4 * kMiB, HugePages::kOff);
  const SharedRegion seen = SharedRegion::of_process(::getpid(), address_of(region),
                                                     region.size() / 2, region.page_bytes());
  EXPECT_EQ(seen.size(), 0u);
  EXPECT_TRUE(seen.bytes_per_node().empty());
}

TEST(SharedRegion, PrefaultTouchesEveryPage) {
  SharedRegion region(8 * kMiB, HugePages::kOff);
  region.prefault();
  EXPECT_EQ(total_bytes(region), region.size());
}

TEST(SharedRegion, PrefaultKeepsTheContents) {
  SharedRegion region(kMiB, HugePages::kOff);
  region.data()[5] = std::byte{42};
  region.prefault();
  EXPECT_EQ(region.data()[5], std::byte{42});
}

TEST(SharedRegion, PolicyIsWhatTheKernelThenSays) {
  SharedRegion region(kMiB, HugePages::kOff);
  region.set_policy(0, region.size(), MemoryPolicy::kInterleave, {first_node()});
  const std::string line = numa_maps_line(region.data());
  if (line.empty()) GTEST_SKIP() << "the kernel has no numa_maps";
  EXPECT_THAT(line, HasSubstr(fmt::format(" interleave:{}", first_node())));
}

TEST(SharedRegion, PolicyOfARangeLeavesTheRestAlone) {
  SharedRegion region(kMiB, HugePages::kOff);
  const std::size_t page = region.page_bytes();
  // From the middle of page 1 to the middle of page 2: both pages.
  region.set_policy(page + page / 2, page, MemoryPolicy::kBind, {first_node()});
  if (numa_maps_line(region.data()).empty()) GTEST_SKIP() << "the kernel has no numa_maps";
  const std::string policy = fmt::format(" bind:{}", first_node());
  EXPECT_THAT(numa_maps_line(region.data()), HasSubstr(" default"));
  EXPECT_THAT(numa_maps_line(region.data() + page), HasSubstr(policy));
  EXPECT_EQ(numa_maps_line(region.data() + 2 * page), "") << "in one mapping with page 1";
  EXPECT_THAT(numa_maps_line(region.data() + 3 * page), HasSubstr(" default"));
}

// With more than one node the pages themselves can be asked.
class SharedRegionOnManyNodes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (nodes_.size() < 2) GTEST_SKIP() << "needs two nodes with memory";
  }
  const Topology topology_ = Topology::of_this_host();
  const IdSet nodes_ = topology_.allowed_nodes();
  const int first_ = *nodes_.begin();
  const int last_ = *nodes_.rbegin();
  SharedRegion region_{8 * kMiB, HugePages::kOff};
};

TEST_F(SharedRegionOnManyNodes, EachHalfLiesWhereItIsBound) {
  region_.set_policy(0, 2 * kMiB, MemoryPolicy::kBind, {last_});
  region_.set_policy(2 * kMiB, 6 * kMiB, MemoryPolicy::kBind, {first_});
  region_.prefault();
  EXPECT_EQ(region_.bytes_per_node(),
            (std::map<int, std::uint64_t>{{first_, 6 * kMiB}, {last_, 2 * kMiB}}));
}

TEST_F(SharedRegionOnManyNodes, InterleaveSpreadsThePagesEvenly) {
  region_.set_policy(0, region_.size(), MemoryPolicy::kInterleave, nodes_);
  region_.prefault();
  const auto census = region_.bytes_per_node();
  const std::uint64_t share = region_.size() / nodes_.size();
  ASSERT_EQ(census.size(), nodes_.size());
  for (const auto& [node, bytes] : census) {
    EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(share), 4096.0) << node;
  }
}

TEST_F(SharedRegionOnManyNodes, FirstTouchPlacesOnTheNodeOfTheToucher) {
  for (const int node : topology_.nodes_with_cpus()) {
    if (!nodes_.contains(node)) continue;
    const SharedRegion region(4 * kMiB, HugePages::kOff);
    Worker worker = Worker::fork({topology_.cpus_of_node(node), MemoryPolicy::kDefault, {}}, [&] {
      std::fill_n(region.data(), region.size(), std::byte{1});
      return 0;
    });
    ASSERT_TRUE(worker.wait(std::chrono::seconds(60)).ok());
    EXPECT_EQ(region.bytes_per_node(), (std::map<int, std::uint64_t>{{node, 4 * kMiB}}));
  }
}

TEST_F(SharedRegionOnManyNodes, WorkersPolicyPlacesWhatItTouches) {
  Worker worker = Worker::fork({{}, MemoryPolicy::kBind, {last_}}, [&] {
    std::fill_n(region_.data(), region_.size(), std::byte{1});
    return 0;
  });
  ASSERT_TRUE(worker.wait(std::chrono::seconds(60)).ok());
  EXPECT_EQ(region_.bytes_per_node(), (std::map<int, std::uint64_t>{{last_, 8 * kMiB}}));
}

TEST(SharedRegion, PolicyOnANodeThatIsNotThereNamesTheCall) {
  SharedRegion region(kMiB, HugePages::kOff);
  const Error error = error_of([&] { region.set_policy(0, kMiB, MemoryPolicy::kBind, {1000}); });
  EXPECT_EQ(error.kind(), ErrorKind::kRun);
  EXPECT_THAT(error.what(), HasSubstr("mbind of 1 MiB to bind:1000"));
}

TEST(SharedRegion, PolicyBeyondTheEndIsADefect) {
  SharedRegion region(kMiB, HugePages::kOff);
  const Error error =
      error_of([&] { region.set_policy(kMiB, 1, MemoryPolicy::kBind, {first_node()}); });
  EXPECT_EQ(error.kind(), ErrorKind::kInternal);
}

TEST(SharedRegion, ThatCannotBeMappedIsRefused) {
  const Error error = error_of([] { SharedRegion region(std::size_t{1} << 60, HugePages::kOff); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("mmap of"));
}

TEST(SharedRegion, HasOneOwner) {
  SharedRegion first(kMiB, HugePages::kOff);
  std::byte* const data = first.data();
  data[3] = std::byte{9};
  SharedRegion second = std::move(first);
  EXPECT_EQ(second.data(), data);
  SharedRegion third;
  EXPECT_TRUE(third.bytes_per_node().empty());
  third = std::move(second);
  EXPECT_EQ(third.data()[3], std::byte{9});
}

TEST(SharedRegion, HugePagesThatAreNotThereAreRefusedOrLeftOut) {
  const HugePageCounts counts = count_huge_pages();
  if (counts.page_bytes == 0) GTEST_SKIP() << "the kernel has no huge pages";
  const std::size_t too_many = (counts.available + 3) * counts.page_bytes;
  const Error error = error_of([&] { SharedRegion region(too_many, HugePages::kOn); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr(fmt::format("needs {} huge pages", counts.available + 3)));
  EXPECT_THAT(error.what(), HasSubstr(fmt::format("{} are free", counts.available)));
  EXPECT_THAT(error.what(),
              HasSubstr(fmt::format("echo {} > /proc/sys/vm/nr_hugepages", counts.total + 3)));

  const SharedRegion region(too_many, HugePages::kTry);
  EXPECT_EQ(region.page_bytes(), static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

// Reserving huge pages would change the host under other tests: whoever runs this one does it.
class HugeRegion : public ::testing::Test {
 protected:
  static constexpr std::size_t kPages = 8;
  void SetUp() override {
    if (count_huge_pages().available < kPages) {
      GTEST_SKIP() << "needs 8 free huge pages: echo 8 > /proc/sys/vm/nr_hugepages";
    }
  }
  const std::size_t page_bytes_ = count_huge_pages().page_bytes;
};

TEST_F(HugeRegion, IsMadeOfHugePages) {
  const std::uint64_t before = count_huge_pages().available;
  const SharedRegion region(kPages * page_bytes_ - 1, HugePages::kOn);
  EXPECT_EQ(region.page_bytes(), page_bytes_);
  EXPECT_EQ(region.size(), kPages * page_bytes_);
  EXPECT_EQ(count_huge_pages().available, before - kPages) << "promised to the mapping";
}

TEST_F(HugeRegion, CensusCountsThePagesThatOnlyAChildHasTouched) {
  const SharedRegion region(kPages * page_bytes_, HugePages::kTry);
  EXPECT_EQ(total_bytes(region), 0u);
  touch_in_a_child(region, {3, 5});
  EXPECT_EQ(total_bytes(region), 2 * page_bytes_);
  // With a page mapped here, mincore would say that the child's next pages do not exist.
  region.data()[0] = std::byte{1};
  touch_in_a_child(region, {6});
  EXPECT_EQ(total_bytes(region), 4 * page_bytes_);
  EXPECT_EQ(total_bytes(region), 4 * page_bytes_) << "counting created no page";
  EXPECT_EQ(region.data()[3 * page_bytes_], std::byte{1});
  EXPECT_EQ(region.data()[1 * page_bytes_], std::byte{0});
}

TEST_F(HugeRegion, OfAProcessHasThePagesThatAreThereAndMakesNone) {
  const SharedRegion region(kPages * page_bytes_, HugePages::kOn);
  touch_in_a_child(region, {1});
  const SharedRegion seen = seen_from_outside(region);
  if (::geteuid() != 0) GTEST_SKIP() << "/proc/PID/map_files is root's";
  ASSERT_EQ(seen.size(), region.size());
  EXPECT_EQ(total_bytes(seen), region.page_bytes());
  EXPECT_EQ(total_bytes(region), region.page_bytes());
}

TEST_F(HugeRegion, PrefaultTouchesEveryPage) {
  SharedRegion region(kPages * page_bytes_, HugePages::kOn);
  region.prefault();
  EXPECT_EQ(total_bytes(region), region.size());
}

TEST_F(HugeRegion, IsNotBoundToNodesWithTooFew) {
  SharedRegion region(kPages * page_bytes_, HugePages::kOn);
  region.set_policy(0, region.size(), MemoryPolicy::kBind, {first_node()});
  const Error error =
      error_of([&] { region.set_policy(0, region.size(), MemoryPolicy::kBind, {1000}); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("node 1000 has 0 free huge pages of the 8 wanted"));
}

}  // namespace
}  // namespace numabench
