#include "reports/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace numabench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(MetricCatalogue, NamesAreDistinctAndFoundAgain) {
  std::set<std::string> names;
  for (const Metric& metric : metric_catalogue()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_EQ(find_metric(metric.name), &metric);
  }
}

// Names go into the headers of exports and into SQL of the reader's own, where they need no quotes.
TEST(MetricCatalogue, EveryMetricCanBePrintedAndExplained) {
  for (const Metric& metric : metric_catalogue()) {
    EXPECT_THAT(metric.name, testing::MatchesRegex("[a-z][a-z0-9_]*"));
    EXPECT_FALSE(metric.title.empty()) << metric.name;
    EXPECT_THAT(metric.description, EndsWith(".")) << metric.name;
    EXPECT_GE(metric.decimals, 0) << metric.name;
  }
}

TEST(MetricCatalogue, UnitsAgreeWithTheSuffixesOfTheNames) {
  for (const Metric& metric : metric_catalogue()) {
    const std::string& name = metric.name;
    EXPECT_EQ(name.ends_with("_us"), metric.unit == "us") << name;
    EXPECT_EQ(name.ends_with("_pct"), metric.unit == "%") << name;
    EXPECT_EQ(name.ends_with("_s") && !name.ends_with("_per_s"), metric.unit == "s") << name;
    EXPECT_EQ(name.ends_with("bytes_per_s"), metric.unit == "B/s") << name;
    EXPECT_EQ(name.ends_with("_bytes"), metric.unit == "B") << name;
  }
}

TEST(MetricCatalogue, SaysWhichDirectionIsBetter) {
  EXPECT_EQ(find_metric("tps")->better, Better::kHigher);
  EXPECT_EQ(find_metric("hit_pct")->better, Better::kHigher);
  EXPECT_EQ(find_metric("tail")->better, Better::kLower);
  EXPECT_EQ(find_metric("adv_per_victim")->better, Better::kLower);
  EXPECT_EQ(find_metric("latency_p999_us")->better, Better::kLower);
  // A faster arm reads more in the same time.
  EXPECT_EQ(find_metric("reads")->better, Better::kNone);
}

TEST(MetricCatalogue, KnowsTheBytesOfAnyNode) {
  const Metric* node_12 = find_metric("pool_bytes_node12");
  ASSERT_NE(node_12, nullptr);
  EXPECT_EQ(node_12->name, "pool_bytes_node12");
  EXPECT_EQ(node_12->unit, "B");
  EXPECT_THAT(node_12->description, HasSubstr("node 12"));
  for (int node = 0; node < 1024; ++node) {
    EXPECT_NE(find_metric("pool_bytes_node" + std::to_string(node)), nullptr);
  }
  EXPECT_EQ(find_metric("pool_bytes_node12"), node_12) << "pointers handed out stay valid";
}

TEST(MetricCatalogue, DoesNotKnowOtherNames) {
  for (const char* name : {"", "TPS", "tps ", "pool_bytes_node", "pool_bytes_node-1",
                           "pool_bytes_node1x", "pool_bytes_node01", "pool_bytes_nodeN"}) {
    EXPECT_EQ(find_metric(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace numabench
