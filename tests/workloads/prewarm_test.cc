#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hosts/error.h"
#include "tests/workloads/streams.h"
#include "workloads/sql_workload.h"
#include "workloads/workload.h"

namespace numabench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr WorkloadSize kSize{.pool_pages = 1000, .ratio = 0.8};

TEST(Prewarm, ReadsTheClientsRelationInSequenceWithoutARing) {
  const auto workload = make_workload("prewarm", {{"relations", "2"}});
  const auto accesses = read_accesses(*workload, "clients", 3, kSize, 1, 400);
  for (std::size_t i = 0; i < accesses.size(); i++) {
    ASSERT_EQ(accesses[i].page, 400 + i);
    ASSERT_EQ(accesses[i].flags, i == 399 ? Access::kEndsTransaction : 0);
  }
}

TEST(Prewarm, StartsFromAnEmptyPool) {
  const auto workload = make_workload("prewarm", {});
  EXPECT_THAT(workload->fill_pages(kSize, 1), IsEmpty());
  EXPECT_EQ(workload->sql(kSize, 1).fill, FillOrder::kCold);
}

TEST(Prewarm, LoadsRelationsOfEqualSizeAndReadsEachOnceAClient) {
  const SqlWorkload sql = make_workload("prewarm", {{"relations", "40"}})->sql(kSize, 40);
  ASSERT_EQ(sql.tables.size(), 40u);
  for (const SqlTable& table : sql.tables) {
    EXPECT_EQ(table.rows, 20u * 61u);  // 800 pages among 40
    EXPECT_FALSE(table.primary_key);
  }
  ASSERT_EQ(sql.roles.size(), 1u);
  EXPECT_EQ(sql.roles[0].transactions, 1);
  EXPECT_EQ(sql.roles[0].clients, 40);
  EXPECT_EQ(sql.roles[0].pages_per_transaction, 20);
  EXPECT_THAT(sql.roles[0].scripts[0].text, HasSubstr("SELECT pg_prewarm('table_40');"));
}

TEST(Prewarm, RefusesMoreRelationsThanPages) {
  EXPECT_THROW(make_workload("prewarm", {{"relations", "801"}})->dataset(kSize), Error);
}

}  // namespace
}  // namespace numabench
