#include "workloads/fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "hosts/error.h"
#include "tests/workloads/chi_square.h"

namespace numabench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Heap pages 0..4 and 8..9, index pages 5..7.
Dataset two_tables_and_an_index() {
  Dataset dataset;
  dataset.add("heap", Relation::Kind::kHeap, 5);
  dataset.add("index", Relation::Kind::kIndex, 3);
  dataset.add("more_heap", Relation::Kind::kHeap, 2);
  return dataset;
}

std::vector<PageNumber> filled(FillOrder order, std::uint64_t pool_pages, std::uint64_t seed = 1) {
  return fill_pages(two_tables_and_an_index(), order, pool_pages, seed);
}

TEST(FillPages, LeavesAColdPoolEmpty) { EXPECT_THAT(filled(FillOrder::kCold, 6), IsEmpty()); }

TEST(FillPages, LoadsTheIndexAlone) {
  EXPECT_THAT(filled(FillOrder::kIndexFirst, 6), ElementsAre(5, 6, 7));
  EXPECT_THAT(filled(FillOrder::kIndexFirst, 2), ElementsAre(5, 6));
}

TEST(FillPages, StopsTheHeapBehindTheIndexAtAFullPool) {
  EXPECT_THAT(filled(FillOrder::kIndexThenHeap, 6), ElementsAre(5, 6, 7, 0, 1, 2));
  EXPECT_THAT(filled(FillOrder::kIndexThenHeap, 100), ElementsAre(5, 6, 7, 0, 1, 2, 3, 4, 8, 9));
}

TEST(FillPages, LeavesRoomForTheIndexBehindTheHeap) {
  EXPECT_THAT(filled(FillOrder::kHeapThenIndex, 6), ElementsAre(0, 1, 2, 5, 6, 7));
  EXPECT_THAT(filled(FillOrder::kHeapThenIndex, 2), ElementsAre(5, 6));
  EXPECT_THAT(filled(FillOrder::kHeapThenIndex, 100), ElementsAre(0, 1, 2, 3, 4, 8, 9, 5, 6, 7));
}

TEST(FillPages, LoadsTheHeapOfAllTables) {
  EXPECT_THAT(filled(FillOrder::kHeapFirst, 6), ElementsAre(0, 1, 2, 3, 4, 8));
  EXPECT_THAT(filled(FillOrder::kHeapFirst, 100), ElementsAre(0, 1, 2, 3, 4, 8, 9));
}

TEST(FillPages, ShufflesBySeed) {
  std::vector<PageNumber> pages = filled(FillOrder::kRandom, 100, 1);
  EXPECT_EQ(pages, filled(FillOrder::kRandom, 100, 1));
  EXPECT_NE(pages, filled(FillOrder::kRandom, 100, 2));
  std::sort(pages.begin(), pages.end());
  EXPECT_THAT(pages, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(FillPages, GivesEveryPageTheSameChanceInARandomFill) {
  constexpr std::uint64_t kSeeds = 20'000;
  std::vector<Bin> first(10, Bin{0.1, 0});
  std::vector<Bin> last(10, Bin{0.1, 0});
  for (std::uint64_t seed = 0; seed < kSeeds; seed++) {
    const std::vector<PageNumber> pages = filled(FillOrder::kRandom, 4, seed);
    ASSERT_EQ(pages.size(), 4u);
    first[pages.front()].observed++;
    last[pages.back()].observed++;
  }
  EXPECT_GT(chi_square_p(first, kSeeds), 1e-4);
  EXPECT_GT(chi_square_p(last, kSeeds), 1e-4);
}

TEST(FillOrder, HasANameForEachOrder) {
  EXPECT_THAT(fill_order_names(), ElementsAre("cold", "index_first", "index_then_heap",
                                              "heap_then_index", "heap_first", "random"));
  EXPECT_EQ(fill_order("heap_then_index"), FillOrder::kHeapThenIndex);
  EXPECT_EQ(fill_order("random"), FillOrder::kRandom);
  EXPECT_THROW(fill_order("warm"), Error);
}

}  // namespace
}  // namespace numabench
