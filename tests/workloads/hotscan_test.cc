#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "tests/workloads/chi_square.h"
#include "tests/workloads/streams.h"
#include "workloads/workload.h"

namespace numabench {
namespace {

constexpr WorkloadSize kSize{.pool_pages = 4096, .ratio = 1.15};

/// The scans of a scanner, whole ones only.
std::vector<std::vector<Access>> scans(const Workload& workload, std::size_t accesses,
                                       std::uint64_t seed = 1) {
  std::vector<std::vector<Access>> scans(1);
  for (const Access& access : read_accesses(workload, "scanners", 0, kSize, seed, accesses)) {
    scans.back().push_back(access);
    if (access.flags & Access::kEndsTransaction) scans.emplace_back();
  }
  scans.pop_back();
  return scans;
}

/// The page accesses of an index scan over rows first .. first + rows - 1, row by row: a page that
/// is still pinned is not accessed again.
std::vector<PageNumber> range_pages(std::uint64_t heap, std::uint64_t first, std::uint64_t rows) {
  const std::uint64_t inner = ((heap + 5) / 6 + 283) / 284;
  std::vector<std::uint64_t> pages = {heap, heap + 1 + first / 366 / 284};
  std::uint64_t pinned_leaf = 0;
  std::uint64_t pinned_heap = heap;
  for (std::uint64_t row = first; row < first + rows; row++) {
    const std::uint64_t leaf = heap + 1 + inner + row / 366;
    if (leaf != pinned_leaf) pages.push_back(leaf);
    if (row / 61 != pinned_heap) pages.push_back(row / 61);
    pinned_leaf = leaf;
    pinned_heap = row / 61;
  }
  return {pages.begin(), pages.end()};
}

class HotscanRange : public testing::TestWithParam<std::uint64_t> {};

TEST_P(HotscanRange, ReadsThePagesOfARangeOfRowsInOrder) {
  const std::uint64_t rows = GetParam();
  const auto workload = make_workload("hotscan", {{"range_rows", std::to_string(rows)}});
  const std::uint64_t heap = workload->dataset(kSize).pages(Relation::Kind::kHeap);
  const auto whole_scans = scans(*workload, 50'000);
  ASSERT_GE(whole_scans.size(), 2u);
  for (const std::vector<Access>& scan : whole_scans) {
    // The scan shows the heap page of its first row, not the row: one of the 61 must explain it.
    ASSERT_GE(scan.size(), 4u);
    bool explained = false;
    for (std::uint64_t i = 0; i < 61 && !explained; i++) {
      explained = pages_of(scan) == range_pages(heap, std::uint64_t{scan[3].page} * 61 + i, rows);
    }
    ASSERT_TRUE(explained);
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, HotscanRange,
                         testing::Values(1, 2, 61, 62, 366, 367, 1000, 10'000, 200'000));

TEST(Hotscan, ScansAsManyBuffersAsPostgresql) {
  // EXPLAIN (ANALYZE, BUFFERS) of PostgreSQL 15 for 10,000 rows of pgbench_accounts by key: 195
  // buffers for aid 100000 .. 109999; other starts cross a leaf or a heap page more.
  std::map<std::size_t, int> lengths;
  for (const auto& scan : scans(*make_workload("hotscan", {}), 200'000)) lengths[scan.size()]++;
  EXPECT_GE(lengths.begin()->first, 194u);
  EXPECT_LE(lengths.rbegin()->first, 196u);
  EXPECT_GT(lengths[195], 0);
}

TEST(Hotscan, DeformsHeapPagesAndUsesNoRing) {
  const auto workload = make_workload("hotscan", {});
  const std::uint64_t heap = workload->dataset(kSize).pages(Relation::Kind::kHeap);
  for (const Access& access : read_accesses(*workload, "scanners", 1, kSize, 1, 10'000)) {
    ASSERT_EQ((access.flags & Access::kScan) != 0, access.page < heap);
    ASSERT_FALSE(access.flags & (Access::kBulkRead | Access::kHot));
  }
}

TEST(Hotscan, StartsAtAnyRowAlike) {
  const auto workload = make_workload("hotscan", {{"range_rows", "1"}});
  const std::uint64_t heap = workload->dataset(kSize).pages(Relation::Kind::kHeap);
  constexpr std::uint64_t kScans = 100'000;
  std::vector<Bin> bins(heap, Bin{1 / static_cast<double>(heap), 0});
  for (const auto& scan : scans(*workload, 4 * kScans)) bins[scan[3].page].observed++;
  EXPECT_GT(chi_square_p(bins, kScans), 1e-4);
}

TEST(Hotscan, StartsAtTheFirstRowAndAtTheLastThatFits) {
  // Two heap pages: only these two starts of 62 read one page alone.
  const auto workload = make_workload("hotscan", {{"range_rows", "61"}, {"ratio_of", "heap"}});
  const WorkloadSize two_pages{.pool_pages = 8, .ratio = 0.25};
  std::set<PageNumber> alone;
  const auto accesses = read_accesses(*workload, "scanners", 0, two_pages, 1, 10'000);
  for (std::size_t i = 0; i + 3 < accesses.size(); i++) {
    const bool starts = accesses[i].page == 2;  // the root
    if (starts && accesses[i + 3].flags & Access::kEndsTransaction) {
      alone.insert(accesses[i + 3].page);
    }
  }
  EXPECT_EQ(alone, (std::set<PageNumber>{0, 1}));
}

TEST(Hotscan, ReadsTheWholeTableWhenTheRangeIsLarger) {
  const auto workload = make_workload("hotscan", {{"range_rows", "1000000"}});
  const std::uint64_t heap = workload->dataset(kSize).pages(Relation::Kind::kHeap);
  for (const auto& scan : scans(*workload, 20'000)) {
    ASSERT_EQ(pages_of(scan), range_pages(heap, 0, heap * 61));
  }
}

TEST(Hotscan, AddsScannersToTheZipfianClients) {
  const std::vector<Role> roles = make_workload("hotscan", {{"scanners", "3"}})->roles(24);
  ASSERT_EQ(roles.size(), 2u);
  EXPECT_EQ(roles[0].name, "clients");
  EXPECT_EQ(roles[0].kind, Role::Kind::kPoint);
  EXPECT_EQ(roles[0].count, 24);
  EXPECT_EQ(roles[1].name, "scanners");
  EXPECT_EQ(roles[1].kind, Role::Kind::kScan);
  EXPECT_EQ(roles[1].count, 3);
}

TEST(Hotscan, HasTheClientsOfZipfian) {
  const auto hotscan = make_workload("hotscan", {{"s", "1.3"}});
  const auto zipfian = make_workload("zipfian", {{"s", "1.3"}});
  EXPECT_EQ(pages_of(read_accesses(*hotscan, "clients", 1, kSize, 1, 4000)),
            pages_of(read_accesses(*zipfian, "clients", 1, kSize, 1, 4000)));
  EXPECT_EQ(hotscan->hot_pages(kSize, 1), zipfian->hot_pages(kSize, 1));
  EXPECT_EQ(hotscan->fill_pages(kSize, 1), zipfian->fill_pages(kSize, 1));
}

TEST(Hotscan, GivesEachScannerItsOwnRanges) {
  const auto workload = make_workload("hotscan", {});
  const auto pages = [&](int index, std::uint64_t seed, std::size_t batch) {
    return pages_of(read_accesses(*workload, "scanners", index, kSize, seed, 2000, batch));
  };
  EXPECT_EQ(pages(0, 1, 256), pages(0, 1, 7));
  EXPECT_NE(pages(0, 1, 256), pages(1, 1, 256));
  EXPECT_NE(pages(0, 1, 256), pages(0, 2, 256));
}

}  // namespace
}  // namespace numabench
