// zipfian and uniform: single queries by key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "tests/workloads/chi_square.h"
#include "tests/workloads/streams.h"
#include "workloads/workload.h"

namespace numabench {
namespace {

using testing::IsEmpty;

constexpr WorkloadSize kSize{.pool_pages = 4096, .ratio = 1.15};

std::uint64_t heap_pages(const Workload& workload, const WorkloadSize& size) {
  return workload.dataset(size).pages(Relation::Kind::kHeap);
}

class QueryWorkload : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Workload> workload_ = make_workload(GetParam(), {});
};

TEST_P(QueryWorkload, TouchesTheFourLevelsThatBelongToOneRow) {
  const auto heap = static_cast<PageNumber>(heap_pages(*workload_, kSize));
  const PageNumber leaves = (heap + 5) / 6;  // 366 rows of 61 a page
  const PageNumber inner = (leaves + 283) / 284;
  const std::vector<Access> accesses = read_accesses(*workload_, "clients", 0, kSize, 1, 40'000);
  for (std::size_t i = 0; i < accesses.size(); i += 4) {
    const PageNumber heap_page = accesses[i + 3].page;
    ASSERT_LT(heap_page, heap);
    ASSERT_EQ(accesses[i].page, heap);
    ASSERT_EQ(accesses[i + 1].page, heap + 1 + heap_page / 6 / 284);
    ASSERT_EQ(accesses[i + 2].page, heap + 1 + inner + heap_page / 6);
    for (std::size_t level = 0; level < 4; level++) {
      ASSERT_EQ(accesses[i + level].flags & ~Access::kHot,
                level == 3 ? Access::kEndsTransaction : 0);
    }
  }
}

TEST_P(QueryWorkload, GivesTheSameAccessesHoweverTheyAreFetched) {
  const std::vector<Access> whole = read_accesses(*workload_, "clients", 3, kSize, 9, 1003, 1003);
  for (const std::size_t batch : {1u, 2u, 3u, 5u, 7u, 64u, 257u}) {
    const auto fetched = read_accesses(*workload_, "clients", 3, kSize, 9, 1003, batch);
    EXPECT_EQ(pages_of(fetched), pages_of(whole)) << batch;
    EXPECT_EQ(fetched.back().flags, whole.back().flags);
  }
}

TEST_P(QueryWorkload, DependsOnSeedAndClientOnly) {
  const auto pages = [&](int index, std::uint64_t seed) {
    return pages_of(
        read_accesses(*make_workload(GetParam(), {}), "clients", index, kSize, seed, 4000));
  };
  EXPECT_EQ(pages(0, 1), pages(0, 1));
  EXPECT_NE(pages(0, 1), pages(1, 1));
  EXPECT_NE(pages(0, 1), pages(0, 2));
}

TEST_P(QueryWorkload, IsNotDisturbedByAnotherRun) {
  const auto before = pages_of(read_accesses(*workload_, "clients", 0, kSize, 1, 4000));
  read_accesses(*workload_, "clients", 0, {.pool_pages = 512, .ratio = 2}, 2, 4);
  EXPECT_EQ(pages_of(read_accesses(*workload_, "clients", 0, kSize, 1, 4000)), before);
}

TEST_P(QueryWorkload, OpensStreamsFromManyThreads) {
  const auto expected = pages_of(read_accesses(*workload_, "clients", 2, kSize, 5, 4000));
  const std::unique_ptr<Workload> shared = make_workload(GetParam(), {});
  std::vector<std::vector<PageNumber>> read(4);
  std::vector<std::thread> threads;
  for (std::vector<PageNumber>& pages : read) {
    threads.emplace_back(
        [&] { pages = pages_of(read_accesses(*shared, "clients", 2, kSize, 5, 4000)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(read, testing::Each(expected));
}

TEST_P(QueryWorkload, HasPointClientsOnly) {
  const std::vector<Role> roles = workload_->roles(24);
  ASSERT_EQ(roles.size(), 1u);
  EXPECT_EQ(roles[0].name, "clients");
  EXPECT_EQ(roles[0].kind, Role::Kind::kPoint);
  EXPECT_EQ(roles[0].count, 24);
}

TEST_P(QueryWorkload, FillsTheIndexFirstUnlessToldOtherwise) {
  const Dataset dataset = workload_->dataset(kSize);
  EXPECT_EQ(workload_->fill_pages(kSize, 1).size(), dataset.pages(Relation::Kind::kIndex));
  const auto random = make_workload(GetParam(), {{"fill", "random"}});
  EXPECT_EQ(random->fill_pages(kSize, 1).size(), kSize.pool_pages);
  EXPECT_NE(random->fill_pages(kSize, 1), random->fill_pages(kSize, 2));
}

TEST_P(QueryWorkload, MeasuresTheHeapAloneWhenAsked) {
  const auto published = make_workload(GetParam(), {{"ratio_of", "heap"}});
  EXPECT_EQ(heap_pages(*published, kSize), 4710u);
  EXPECT_LE(workload_->dataset(kSize).pages(), 4710u);
}

INSTANTIATE_TEST_SUITE_P(Each, QueryWorkload, testing::Values("zipfian", "uniform"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Uniform, AsksForAllHeapPagesAlike) {
  const auto workload = make_workload("uniform", {});
  constexpr std::uint64_t kQueries = 400'000;
  const std::uint64_t heap = heap_pages(*workload, kSize);
  std::vector<Bin> bins(heap, Bin{1 / static_cast<double>(heap), 0});
  for (const Access& access : read_accesses(*workload, "clients", 0, kSize, 1, 4 * kQueries)) {
    if (access.flags & Access::kEndsTransaction) bins[access.page].observed++;
  }
  EXPECT_GT(chi_square_p(bins, kQueries), 1e-4);
}

TEST(Uniform, HasNoHotPages) {
  const auto workload = make_workload("uniform", {});
  EXPECT_THAT(workload->hot_pages(kSize, 1), IsEmpty());
  for (const Access& access : read_accesses(*workload, "clients", 0, kSize, 1, 4000)) {
    EXPECT_FALSE(access.flags & Access::kHot);
  }
}

/// Queries by heap page, of one client.
std::map<PageNumber, std::uint64_t> heap_counts(const Workload& workload, int index,
                                                std::uint64_t seed, std::uint64_t queries) {
  std::map<PageNumber, std::uint64_t> counts;
  for (const Access& access : read_accesses(workload, "clients", index, kSize, seed, 4 * queries)) {
    if (access.flags & Access::kEndsTransaction) counts[access.page]++;
  }
  return counts;
}

TEST(Zipfian, AsksInKeyOrderWithTheExactMassOfEachHeapPage) {
  const auto workload = make_workload("zipfian", {{"permute", "false"}, {"s", "0.8"}});
  constexpr std::uint64_t kQueries = 400'000;
  const std::uint64_t heap = heap_pages(*workload, kSize);
  std::vector<Bin> bins(heap);
  double total = 0;
  for (std::uint64_t row = 0; row < heap * 61; row++) {
    const double weight = std::pow(static_cast<double>(row + 1), -0.8);
    bins[row / 61].probability += weight;
    total += weight;
  }
  for (Bin& bin : bins) bin.probability /= total;
  for (const auto& [page, count] : heap_counts(*workload, 0, 1, kQueries)) {
    bins[page].observed = count;
  }
  EXPECT_GT(chi_square_p(bins, kQueries), 1e-4);
}

PageNumber most_popular(const std::map<PageNumber, std::uint64_t>& counts) {
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

TEST(Zipfian, ScattersTheSameHotRowsForAllClientsOfARun) {
  const auto workload = make_workload("zipfian", {});
  const PageNumber hottest = most_popular(heap_counts(*workload, 0, 1, 20'000));
  EXPECT_EQ(most_popular(heap_counts(*workload, 7, 1, 20'000)), hottest);
  EXPECT_NE(most_popular(heap_counts(*workload, 0, 2, 20'000)), hottest);
  EXPECT_EQ(
      most_popular(heap_counts(*make_workload("zipfian", {{"permute", "false"}}), 0, 1, 20'000)),
      0u);
}

/// The hot set in key order, from its definition: rows from the first on until their pages make a
/// quarter of the pool.
std::set<PageNumber> first_rows_pages(std::uint64_t heap, std::uint64_t quarter) {
  const std::uint64_t inner = ((heap + 5) / 6 + 283) / 284;
  std::set<PageNumber> pages;
  for (std::uint64_t row = 0; row < heap * 61 && pages.size() < quarter; row++) {
    for (const std::uint64_t page :
         {heap, heap + 1 + row / 366 / 284, heap + 1 + inner + row / 366, row / 61}) {
      pages.insert(static_cast<PageNumber>(page));
    }
  }
  return pages;
}

std::set<PageNumber> as_set(const std::vector<PageNumber>& pages) {
  return {pages.begin(), pages.end()};
}

TEST(Zipfian, HasThePagesOfTheMostPopularRowsInItsHotSet) {
  const auto workload = make_workload("zipfian", {{"permute", "false"}});
  for (const std::uint64_t pool : {0u, 3u, 4u, 8u, 40u, 4096u, 5001u}) {
    const WorkloadSize size{.pool_pages = pool, .ratio = 1.5};
    const std::vector<PageNumber> hot = workload->hot_pages(size, 1);
    EXPECT_EQ(as_set(hot), first_rows_pages(heap_pages(*workload, size), pool / 4)) << pool;
    EXPECT_EQ(as_set(hot).size(), hot.size());
  }
}

TEST(Zipfian, HasAllPagesInTheHotSetOfAPoolFourTimesAsLarge) {
  const auto workload = make_workload("zipfian", {});
  for (const double ratio : {0.01, 0.1, 0.24}) {
    const WorkloadSize size{.pool_pages = 4096, .ratio = ratio};
    EXPECT_EQ(workload->hot_pages(size, 1).size(), workload->dataset(size).pages());
    for (const Access& access : read_accesses(*workload, "clients", 0, size, 1, 400)) {
      ASSERT_TRUE(access.flags & Access::kHot);
    }
  }
}

TEST(Zipfian, MarksExactlyTheAccessesForHotRows) {
  // In key order the hot rows are 0 .. last; a row beyond can share their pages, but is not hot.
  const auto workload = make_workload("zipfian", {{"permute", "false"}, {"s", "0.5"}});
  const std::uint64_t heap = heap_pages(*workload, kSize);
  PageNumber last_hot = 0;
  for (const PageNumber page : first_rows_pages(heap, kSize.pool_pages / 4)) {
    if (page < heap) last_hot = std::max(last_hot, page);
  }
  std::set<bool> on_last;
  const std::vector<Access> accesses = read_accesses(*workload, "clients", 0, kSize, 1, 4'000'000);
  for (std::size_t i = 0; i < accesses.size(); i += 4) {
    const bool hot = accesses[i + 3].flags & Access::kHot;
    for (std::size_t level = 0; level < 3; level++) {
      ASSERT_EQ((accesses[i + level].flags & Access::kHot) != 0, hot);
    }
    if (accesses[i + 3].page == last_hot) {
      on_last.insert(hot);
    } else {
      ASSERT_EQ(hot, accesses[i + 3].page < last_hot);
    }
  }
  EXPECT_EQ(on_last, (std::set<bool>{false, true}));  // only its first row is hot
}

TEST(Zipfian, TouchesOnlyHotPagesForHotRowsWhenPermuted) {
  const auto workload = make_workload("zipfian", {});
  const std::vector<PageNumber> hot_pages = workload->hot_pages(kSize, 3);
  EXPECT_GE(hot_pages.size(), kSize.pool_pages / 4);
  EXPECT_LE(hot_pages.size(), kSize.pool_pages / 4 + 3);  // the last row may bring several
  const std::set<PageNumber> hot = as_set(hot_pages);
  std::set<PageNumber> touched;
  for (const Access& access : read_accesses(*workload, "clients", 1, kSize, 3, 8'000'000)) {
    if (!(access.flags & Access::kHot)) continue;
    ASSERT_TRUE(hot.contains(access.page));
    touched.insert(access.page);
  }
  EXPECT_EQ(touched, hot);
}

}  // namespace
}  // namespace numabench
