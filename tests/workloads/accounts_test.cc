#include "workloads/accounts.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "hosts/error.h"

namespace numabench {
namespace {

TEST(Accounts, HasThePagesOfARealPostgresql) {
  // PostgreSQL 15 after pgbench -i -s 20: relpages of table and primary key; pageinspect shows 20
  // inner pages (the last has 69 items, the others 285, one of them the high key), 5465 leaves (the
  // others 367 items, one of them the high key) and the root. The metapage is in relpages only.
  const Accounts accounts(32787);
  EXPECT_EQ(accounts.dataset().pages(Relation::Kind::kHeap), 32787u);
  EXPECT_EQ(accounts.dataset().pages(Relation::Kind::kIndex), 5487u - 1);
  constexpr std::uint64_t kLastRow = 1'999'999;
  EXPECT_EQ(accounts.heap_page(kLastRow), 32787u - 1);
  EXPECT_EQ(accounts.inner_page(kLastRow) - accounts.inner_page(0), 20u - 1);
  EXPECT_EQ(accounts.leaf_page(kLastRow) - accounts.leaf_page(0), 5465u - 1);
}

TEST(Accounts, CountsTheBuffersOfAQueryAsARealPostgresql) {
  // PostgreSQL 15, "Buffers: shared hit" of EXPLAIN (ANALYZE, BUFFERS) for one row by its key.
  EXPECT_EQ(Accounts(6).server_accesses(), 2);     // 366 rows
  EXPECT_EQ(Accounts(7).server_accesses(), 3);     // 427 rows
  EXPECT_EQ(Accounts(1710).server_accesses(), 3);  // 104,310 rows
  EXPECT_EQ(Accounts(1711).server_accesses(), 4);  // 104,371 rows
  EXPECT_EQ(Accounts(3279).server_accesses(), 4);
  // The same of 10,000 rows of 200,000 from the first one on: one heap page fewer than of a range
  // that begins in the middle of a page.
  EXPECT_NEAR(Accounts(3279).server_range_accesses(10'000), 194, 1);
}

TEST(Accounts, GivesTheIndexItsShareOfThePool) {
  // POOL_MODEL: with a heap of 1.15 x pool the index pages hold 19 % of the pool.
  constexpr std::uint64_t kPool = 524288;
  const Accounts accounts = Accounts::of_size({kPool, 1.15}, RatioOf::kHeap);
  EXPECT_NEAR(static_cast<double>(accounts.dataset().pages(Relation::Kind::kIndex)) / kPool, 0.19,
              0.005);
  EXPECT_NEAR(static_cast<double>(accounts.rows()), 36.8e6, 0.1e6);
}

TEST(Accounts, KeepsHeapLeavesInnerPagesAndRootApartAndUsesAll) {
  // Enough rows for three inner pages, the last with one leaf, and a last leaf of one heap page.
  const Accounts accounts(2 * 284 * 6 + 1);
  const PageNumber heap = 3409;
  const PageNumber leaves = 569;
  PageNumber next_heap = 0;
  PageNumber next_leaf = heap + 1 + 3;
  PageNumber next_inner = heap + 1;
  for (std::uint64_t row = 0; row < accounts.rows(); row++) {
    next_heap += row % 61 == 0 ? 1 : 0;
    next_leaf += row % 366 == 0 ? 1 : 0;
    next_inner += row % (366 * 284) == 0 ? 1 : 0;
    ASSERT_EQ(accounts.heap_page(row), next_heap - 1);
    ASSERT_EQ(accounts.leaf_page(row), next_leaf - 1);
    ASSERT_EQ(accounts.inner_page(row), next_inner - 1);
  }
  EXPECT_EQ(next_heap, heap);
  EXPECT_EQ(accounts.root_page(), heap);
  EXPECT_EQ(next_inner, heap + 1 + 3);
  EXPECT_EQ(next_leaf, heap + 1 + 3 + leaves);
  EXPECT_EQ(accounts.dataset().pages(), next_leaf);
}

TEST(Accounts, IsOfTheSizeAskedForWithinALeafAndItsHeapPages) {
  for (const std::uint64_t pool : {1000u, 16384u, 524288u, 8'000'003u}) {
    for (const double ratio : {0.1, 0.5, 1.0, 1.15, 2.0, 7.3}) {
      const double wanted = ratio * static_cast<double>(pool);
      const Accounts whole = Accounts::of_size({pool, ratio}, RatioOf::kWorkingSet);
      const auto pages = static_cast<double>(whole.dataset().pages());
      EXPECT_LE(pages, wanted + 0.5);
      // The next heap page can bring a leaf and an inner page with it.
      EXPECT_GT(pages, wanted - 3.5);
      const Accounts heap = Accounts::of_size({pool, ratio}, RatioOf::kHeap);
      EXPECT_EQ(heap.dataset().pages(Relation::Kind::kHeap),
                static_cast<std::uint64_t>(std::llround(wanted)));
    }
  }
}

TEST(Accounts, HasAtLeastOneHeapPage) {
  const Accounts accounts = Accounts::of_size({8, 0.01}, RatioOf::kWorkingSet);
  EXPECT_EQ(accounts.rows(), 61u);
  EXPECT_EQ(accounts.dataset().pages(), 4u);
}

TEST(Accounts, RefusesMorePagesThanPageNumbers) {
  EXPECT_THROW(Accounts::of_size({std::uint64_t{1} << 32, 1.0}, RatioOf::kHeap), Error);
  EXPECT_THROW(Accounts::of_size({std::uint64_t{1} << 40, 1e9}, RatioOf::kWorkingSet), Error);
}

TEST(Accounts, DescendsFromTheRootToTheHeapInFourAccesses) {
  const Accounts accounts(10'000);
  std::array<Access, Accounts::kQueryAccesses> accesses;
  accounts.query(123'456, Access::kHot, accesses.data());
  EXPECT_EQ(accesses[0].page, 10'000u);
  EXPECT_EQ(accesses[1].page, 10'001u + 123'456 / 103'944);
  EXPECT_EQ(accesses[2].page, 10'001u + 6 + 123'456 / 366);
  EXPECT_EQ(accesses[3].page, 123'456u / 61);
  for (std::size_t i = 0; i < 3; i++) EXPECT_EQ(accesses[i].flags, Access::kHot);
  EXPECT_EQ(accesses[3].flags, Access::kHot | Access::kEndsTransaction);
}

}  // namespace
}  // namespace numabench
