#include "runner/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

namespace numabench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ProgressTest : public ::testing::Test {
 protected:
  std::string printed() {
    std::fflush(file.get());
    std::rewind(file.get());
    std::string text;
    std::array<char, 256> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), file.get()) != nullptr) text += buffer.data();
    return text;
  }

  static RunRecord run(double seconds) {
    RunRecord record;
    record.duration_seconds = seconds;
    record.values = {MetricValue::of("tps", 412332.4), MetricValue::of("hit_pct", 98.12)};
    return record;
  }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), &std::fclose};
};

TEST_F(ProgressTest, PrintsOnePlainLineARunWhereThereIsNoTerminal) {
  Progress progress(file.get(), {}, 81, 300);
  progress.begin("numa-only hotscan ratio=2 run 3");
  progress.stage("warm-up");
  progress.finish(run(2.5));
  EXPECT_EQ(printed(),
            "[ 1/81] numa-only hotscan ratio=2 run 3  tps 412,332  hit 98.1 %  ETA 3:20\n");
}

TEST_F(ProgressTest, PrintsALineAStageOfABuildWhereThereIsNoTerminal) {
  StageLines lines(file.get(), {});
  for (const char* stage : {"configuring", "compiling", "compiling 1/1930", "compiling 2/1930"}) {
    lines.show("arm stock", stage);
  }
  lines.show("arm patched", "compiling 1/1930");
  lines.clear();
  EXPECT_EQ(printed(),
            "arm stock  configuring …\narm stock  compiling …\narm patched  compiling …\n");
}

TEST_F(ProgressTest, ShowsTheCountOfABuildOnATerminal) {
  StageLines lines(file.get(), {true, false, 100});
  lines.show("arm stock", "compiling 512/1930");
  EXPECT_EQ(printed(), "\r\033[Karm stock  compiling 512/1930 …");
}

TEST_F(ProgressTest, ShowsTheStageOnATerminalAndClearsIt) {
  Progress progress(file.get(), {true, false, 100}, 2, 6);
  progress.begin("stock zipfian run 1");
  progress.stage("warm-up");
  progress.finish(run(3));
  EXPECT_THAT(printed(), HasSubstr("\r\033[K[1/2] stock zipfian run 1  warm-up"));
}

TEST_F(ProgressTest, TellsWhyARunDoesNotCount) {
  Progress progress(file.get(), {}, 1, 3);
  progress.begin("stock zipfian run 1");
  RunRecord record = run(3);
  record.status = RunStatus::kFailed;
  record.reason = "client 3 was killed by signal 9";
  progress.finish(record);
  EXPECT_THAT(printed(), HasSubstr("FAILED: client 3 was killed by signal 9"));
  EXPECT_THAT(printed(), Not(HasSubstr("tps")));
}

TEST_F(ProgressTest, TheEtaFollowsTheRunsThatWereDone) {
  Progress progress(file.get(), {}, 4, 100);
  EXPECT_DOUBLE_EQ(progress.eta_seconds(), 100);
  progress.begin("a");
  progress.finish(run(2));
  EXPECT_DOUBLE_EQ(progress.eta_seconds(), 6);
  progress.begin("b");
  progress.finish(run(4));
  EXPECT_DOUBLE_EQ(progress.eta_seconds(), 6);
}

TEST_F(ProgressTest, AFileIsNoTerminalAndHasNoColour) {
  const TerminalStyle style = TerminalStyle::of(file.get());
  EXPECT_FALSE(style.is_terminal);
  EXPECT_FALSE(style.color);
}

}  // namespace
}  // namespace numabench
