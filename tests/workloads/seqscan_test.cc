#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "hosts/error.h"
#include "tests/workloads/streams.h"
#include "workloads/workload.h"

namespace numabench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<PageNumber> sequence(PageNumber first, std::size_t count) {
  std::vector<PageNumber> pages(count);
  std::iota(pages.begin(), pages.end(), first);
  return pages;
}

TEST(Seqscan, ReadsEachPageOfTheTableOnceAScanInOrder) {
  const auto workload = make_workload("seqscan", {});
  const WorkloadSize size{.pool_pages = 1000, .ratio = 1.5};
  const std::vector<Access> accesses = read_accesses(*workload, "clients", 0, size, 1, 4500, 7);
  for (std::size_t i = 0; i < accesses.size(); i++) {
    ASSERT_EQ(accesses[i].page, i % 1500);
    ASSERT_EQ((accesses[i].flags & Access::kEndsTransaction) != 0, i % 1500 == 1499);
    ASSERT_TRUE(accesses[i].flags & Access::kScan);
    ASSERT_FALSE(accesses[i].flags & Access::kHot);
  }
}

TEST(Seqscan, UsesARingFromAQuarterOfThePoolOn) {
  const auto workload = make_workload("seqscan", {});
  const auto bulk = [&](std::uint64_t pool, double ratio) {
    const auto accesses = read_accesses(*workload, "clients", 0, {pool, ratio}, 1, 1);
    return (accesses[0].flags & Access::kBulkRead) != 0;
  };
  EXPECT_FALSE(bulk(1000, 0.250));
  EXPECT_TRUE(bulk(1000, 0.251));
  EXPECT_FALSE(bulk(1003, 250.0 / 1003));  // NBuffers / 4 is an integer division
  EXPECT_TRUE(bulk(1003, 251.0 / 1003));
}

TEST(Seqscan, SharesTheWorkingSetAmongTables) {
  const auto workload = make_workload("seqscan", {{"tables", "3"}});
  const WorkloadSize size{.pool_pages = 100, .ratio = 1};
  const Dataset dataset = workload->dataset(size);
  ASSERT_EQ(dataset.relations().size(), 3u);
  EXPECT_EQ(dataset.pages(), 100u);
  EXPECT_EQ(dataset.pages(Relation::Kind::kIndex), 0u);
  EXPECT_EQ(pages_of(read_accesses(*workload, "clients", 0, size, 1, 34)), sequence(0, 34));
  EXPECT_EQ(pages_of(read_accesses(*workload, "clients", 1, size, 1, 33)), sequence(34, 33));
  EXPECT_EQ(pages_of(read_accesses(*workload, "clients", 2, size, 1, 33)), sequence(67, 33));
  EXPECT_EQ(pages_of(read_accesses(*workload, "clients", 3, size, 1, 34)), sequence(0, 34));
}

TEST(Seqscan, ReadsPartitionsInOrderAndDecidesOnTheRingForEach) {
  // A table of 400 pages would get a ring in a pool of 1000, its partitions of 100 do not.
  const auto workload = make_workload("seqscan", {{"tables", "2"}, {"partitions", "4"}});
  const WorkloadSize size{.pool_pages = 1000, .ratio = 0.8};
  ASSERT_EQ(workload->dataset(size).relations().size(), 8u);
  const auto accesses = read_accesses(*workload, "clients", 1, size, 1, 400);
  EXPECT_EQ(pages_of(accesses), sequence(400, 400));
  for (std::size_t i = 0; i < accesses.size(); i++) {
    ASSERT_FALSE(accesses[i].flags & Access::kBulkRead);
    ASSERT_EQ((accesses[i].flags & Access::kEndsTransaction) != 0, i == 399);
  }
}

TEST(Seqscan, ScansASharedTableFromItsStartWithEveryClient) {
  const auto workload = make_workload("seqscan", {});
  const WorkloadSize size{.pool_pages = 100, .ratio = 1};
  for (int client = 0; client < 3; client++) {
    EXPECT_EQ(pages_of(read_accesses(*workload, "clients", client, size, 1, 100)),
              sequence(0, 100));
  }
}

TEST(Seqscan, RefusesMorePartitionsThanPages) {
  const auto workload = make_workload("seqscan", {{"tables", "100"}, {"partitions", "1000000"}});
  EXPECT_THROW(workload->dataset({.pool_pages = 1000, .ratio = 2}), Error);
}

TEST(Seqscan, HasScanningClientsAndNoHotPages) {
  const auto workload = make_workload("seqscan", {});
  const std::vector<Role> roles = workload->roles(5);
  ASSERT_EQ(roles.size(), 1u);
  EXPECT_EQ(roles[0].name, "clients");
  EXPECT_EQ(roles[0].kind, Role::Kind::kScan);
  EXPECT_EQ(roles[0].count, 5);
  EXPECT_THAT(workload->hot_pages({.pool_pages = 100, .ratio = 1}, 1), IsEmpty());
}

TEST(Seqscan, StartsColdUnlessToldOtherwise) {
  const WorkloadSize size{.pool_pages = 100, .ratio = 1.5};
  EXPECT_THAT(make_workload("seqscan", {})->fill_pages(size, 1), IsEmpty());
  EXPECT_EQ(make_workload("seqscan", {{"fill", "heap_first"}})->fill_pages(size, 1),
            sequence(0, 100));
  std::vector<PageNumber> random =
      make_workload("seqscan", {{"fill", "random"}})->fill_pages(size, 1);
  EXPECT_FALSE(std::is_sorted(random.begin(), random.end()));
  std::sort(random.begin(), random.end());
  EXPECT_EQ(std::unique(random.begin(), random.end()) - random.begin(), 100);
}

}  // namespace
}  // namespace numabench
