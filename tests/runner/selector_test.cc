#include "runner/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hosts/error.h"

namespace numabench {
namespace {

using ::testing::HasSubstr;

CellRecord cell() {
  CellRecord cell;
  cell.hash = "0123456789abcdef";
  cell.arm = "numa-only";
  cell.workload = "hotscan";
  cell.placement = "free";
  cell.regime = "none";
  cell.pool_bytes = 512 << 20;
  cell.ratio = 2;
  cell.clients = 24;
  return cell;
}

bool selects(const std::string& name, const std::string& where) {
  return make_selector(name, where)(cell());
}

std::string error_of(const std::string& name, const std::string& where) {
  try {
    make_selector(name, where);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "no error";
}

TEST(SelectorTest, SelectsEverythingWhenNothingIsAsked) { EXPECT_TRUE(selects("", "")); }

TEST(SelectorTest, SearchesTheLabel) {
  EXPECT_EQ(cell_label(cell()), "numa-only hotscan ratio=2 pool=512 MiB clients=24 free");
  EXPECT_TRUE(selects("^numa-.*ratio=2 ", ""));
  EXPECT_FALSE(selects("^stock", ""));
}

TEST(SelectorTest, ComparesNumbersAsNumbers) {
  EXPECT_TRUE(selects("", "clients>=8"));  // as text "24" < "8"
  EXPECT_TRUE(selects("", "ratio=2.0"));
  EXPECT_TRUE(selects("", "ratio<=2"));
  EXPECT_FALSE(selects("", "ratio<2"));
  EXPECT_FALSE(selects("", "ratio>2"));
  EXPECT_FALSE(selects("", "ratio!=2"));
}

TEST(SelectorTest, PoolsTakeUnits) {
  EXPECT_TRUE(selects("", "pool=512MiB"));
  EXPECT_TRUE(selects("", "pool<1GB"));
}

TEST(SelectorTest, AllConditionsMustHold) {
  EXPECT_TRUE(selects("", "arm=numa-only, ratio>=2"));
  EXPECT_FALSE(selects("", "arm=numa-only,ratio>=4"));
  EXPECT_FALSE(selects("stock", "ratio>=2"));
  EXPECT_TRUE(selects("", "regime=none"));
  EXPECT_FALSE(selects("", "regime!=none"));
}

TEST(SelectorTest, HashesMatchByPrefix) {
  EXPECT_TRUE(selects("", "hash=01234567"));
  EXPECT_FALSE(selects("", "hash=1234"));
}

TEST(SelectorTest, ErrorsSayWhatToDo) {
  EXPECT_THAT(error_of("", "ration>=2"), HasSubstr("did you mean 'ratio'"));
  EXPECT_THAT(error_of("", "arm<stock"), HasSubstr("'arm' has no order"));
  EXPECT_THAT(error_of("", "ratio=two"), HasSubstr("write a number"));
  EXPECT_THAT(error_of("", "pool=big"), HasSubstr("512MiB"));
  EXPECT_THAT(error_of("", "stock"), HasSubstr("FACTOR=VALUE"));
  EXPECT_THAT(error_of("(", ""), HasSubstr("not a regular expression"));
}

}  // namespace
}  // namespace numabench
