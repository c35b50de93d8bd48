#include "reports/run_figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hosts/error.h"
#include "tests/reports/fabricated_store.h"

namespace numabench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class RunFigure : public testing::Test {
 protected:
  RunFigure() {
    fabricated_.cell("stock", 2);
    RunRecord& run = fabricated_.run({MetricValue::of("tps", 1000)});
    for (int second = 1; second <= 20; ++second) {
      run.samples.push_back({1.0 * second, "tps", second == 7 ? std::nan("") : 1000.0 + second});
      run.samples.push_back({1.0 * second, "hit_pct", 95});
      run.samples.push_back({1.0 * second, "server_cpu_pct", 80});
      run.samples.push_back({1.0 * second, "scans_per_s", 0});
    }
    run.events = {{"info", "checkpoint starting: time", 4.5},
                  {"info", "it's `quoted` \"twice\"", 9.0},
                  {"warning", "unsettled: tps drifted by +9.0 % over the window"}};
    fabricated_.run({}, RunStatus::kVoid, "other_load: somebody else").samples = {{1, "tps", 500},
                                                                                  {2, "tps", 600}};
    fabricated_.run({MetricValue::of("tps", 1)});
  }

  TemporaryFolder folder_;
  FabricatedStore fabricated_{{"stock"}};
};

TEST_F(RunFigure, HasAPanelForEachThingThatWasSampledAndALineForEachEventWithATime) {
  const Store store = fabricated_.write();
  const std::int64_t id = store.runs(1).front().id;
  const auto found = find_run(store, id);
  ASSERT_TRUE(found);
  const auto images = draw_run(store, *found, folder_.path() / "figures");
  ASSERT_EQ(images.size(), 2u);
  EXPECT_THAT(content_of(images[1]), StartsWith("\x89PNG"));
  const std::string drawing = content_of(images[0]);
  EXPECT_THAT(drawing, AllOf(HasSubstr("</svg>"), HasSubstr("tps"), HasSubstr("hit %"),
                             HasSubstr("checkpoint starting"), HasSubstr("server, of its CPUs"),
                             HasSubstr("unsettled: tps drifted by +9.0"), HasSubstr("stock")));
  EXPECT_THAT(drawing, Not(HasSubstr("scans/s"))) << "there were none";
  const std::string base = (folder_.path() / "figures" / ("run-" + std::to_string(id))).string();
  const std::string data = content_of(base + "-tps.dat");
  EXPECT_THAT(data, AllOf(HasSubstr("6 1006\n7 nan\n8 1008\n")));
  const std::string script = content_of(base + ".gp");
  EXPECT_THAT(script, HasSubstr("set arrow from 4.5,"));
  EXPECT_THAT(script, HasSubstr("'it''s `quoted` \"twice\"'"));
}

TEST_F(RunFigure, SaysWhyARunDoesNotCount) {
  const Store store = fabricated_.write();
  const auto images =
      draw_run(store, *find_run(store, store.runs(1)[1].id), folder_.path().string());
  EXPECT_THAT(content_of(images[0]), HasSubstr("void: other_load: somebody else"));
}

TEST_F(RunFigure, IsRefusedForARunWithoutSeconds) {
  const Store store = fabricated_.write();
  const auto found = find_run(store, store.runs(1)[2].id);
  EXPECT_THROW(draw_run(store, *found, folder_.path().string()), Error);
  EXPECT_FALSE(find_run(store, 4711));
}

}  // namespace
}  // namespace numabench
