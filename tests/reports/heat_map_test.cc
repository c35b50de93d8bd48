// Drawn by the real gnuplot and read back.
#include "reports/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(HeatMap, HasTheNumberOfEachPair) {
  const TemporaryDirectory folder;
  const HeatMap map{"load latency, ns",   "node of the core",
                    "node of the memory", {"0", "2"},
                    {"0", "2"},           {{91.25, 142.75}, {std::nan(""), 93.5}}};
  const auto images = draw_heat_map(map, folder.path() + "/maps", "latency");
  ASSERT_THAT(images, ElementsAre(EndsWith("latency.svg"), EndsWith("latency.png")));
  const std::string svg = content(images[0]);
  for (const char* text : {"load latency, ns", "91.2", "142.8", "93.5", "node of the core"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_EQ(content(images[1]).substr(1, 3), "PNG");
}

TEST(HeatMap, DrawsOneNode) {
  const TemporaryDirectory folder;
  const HeatMap map{"x", "row", "column", {"0"}, {"0"}, {{1.5}}};
  EXPECT_THAT(content(draw_heat_map(map, folder.path(), "one").at(0)), HasSubstr("1.5"));
}

}  // namespace
}  // namespace numabench
