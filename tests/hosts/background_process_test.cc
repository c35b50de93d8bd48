#include "hosts/background_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "tests/hosts/error_of.h"
#include "tests/hosts/kernel_view.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Background : public ::testing::Test {
 protected:
  void SetUp() override { open_files_ = count_open_files(); }
  void TearDown() override {
    EXPECT_EQ(count_open_files(), open_files_) << "a descriptor leaked";
    EXPECT_TRUE(has_no_children()) << "a child is left";
  }

  static BackgroundProcess start_shell(const std::string& script,
                                       const BackgroundProcess::Options& options = {}) {
    return BackgroundProcess::start({"sh", "-c", script}, options);
  }

  const TemporaryDirectory directory_;

 private:
  int open_files_ = 0;
};

TEST_F(Background, AppendsItsStreamsToTheirFiles) {
  BackgroundProcess::Options options;
  options.output_path = directory_.write("out", "before\n");
  options.error_path = directory_.path() + "/err";
  BackgroundProcess process = start_shell("echo out; echo err >&2; exit 3", options);
  const auto exit = process.wait(seconds(30));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->exit_code, 3);
  EXPECT_EQ(exit->signal, 0);
  EXPECT_FALSE(exit->ok());
  EXPECT_EQ(text_of(options.output_path), "before\nout\n");
  EXPECT_EQ(text_of(options.error_path), "err\n");
}

TEST_F(Background, MayWriteBothStreamsToOneFile) {
  BackgroundProcess::Options options;
  options.output_path = options.error_path = directory_.path() + "/log";
  BackgroundProcess process = start_shell("echo out; echo err >&2; echo again", options);
  ASSERT_TRUE(process.wait(seconds(30)));
  EXPECT_EQ(text_of(options.output_path), "out\nerr\nagain\n");
}

TEST_F(Background, PollsWithoutBlocking) {
  BackgroundProcess process = start_shell("exec sleep 1000");
  EXPECT_FALSE(process.poll());
  EXPECT_FALSE(process.wait(milliseconds(1)));
  EXPECT_TRUE(is_running(process.pid()));
  process.signal(SIGINT);
  ASSERT_TRUE(process.wait(seconds(30)));
  EXPECT_EQ(process.poll()->signal, SIGINT) << "and says it again";
}

TEST_F(Background, SignalsTheProcessAlone) {
  BackgroundProcess::Options options;
  options.output_path = directory_.path() + "/out";
  BackgroundProcess process = start_shell(
      "trap 'echo asked; kill $child; exit' USR1; (trap 'echo wrong' USR1; echo ready; sleep 1000) "
      "& "
      "child=$!; while :; do sleep 0.1; done",
      options);
  ASSERT_TRUE(becomes_true([&] { return text_of(options.output_path) == "ready\n"; }));
  process.signal(SIGUSR1);
  ASSERT_TRUE(process.wait(seconds(30)));
  EXPECT_EQ(text_of(options.output_path), "ready\nasked\n");
}

TEST_F(Background, IsAskedToEndBeforeItIsKilled) {
  BackgroundProcess::Options options;
  options.output_path = directory_.path() + "/out";
  BackgroundProcess process =
      start_shell("trap 'exit 5' TERM; echo ready; while :; do sleep 0.1; done", options);
  ASSERT_TRUE(becomes_true([&] { return text_of(options.output_path) == "ready\n"; }));
  EXPECT_EQ(process.kill().exit_code, 5);
}

TEST_F(Background, IsKilledWhenItIgnoresTheRequest) {
  BackgroundProcess::Options options;
  options.output_path = directory_.path() + "/out";
  BackgroundProcess process =
      start_shell("trap '' TERM; echo ready; while :; do sleep 0.1; done", options);
  ASSERT_TRUE(becomes_true([&] { return text_of(options.output_path) == "ready\n"; }));
  EXPECT_EQ(process.kill().signal, SIGKILL);
}

TEST_F(Background, IsKilledWhileItIsStopped) {
  BackgroundProcess process = start_shell("exec sleep 1000");
  process.signal(SIGSTOP);
  EXPECT_NE(process.kill().signal, 0);
}

TEST_F(Background, TakesItsGrandchildrenAlong) {
  BackgroundProcess::Options options;
  options.output_path = directory_.path() + "/out";
  pid_t leader = 0;
  {
    BackgroundProcess process = start_shell("sleep 1000 & echo $!; wait", options);
    leader = process.pid();
    ASSERT_TRUE(becomes_true([&] { return text_of(options.output_path).ends_with("\n"); }));
  }
  EXPECT_FALSE(is_running(leader));
  const pid_t grandchild = std::stoi(text_of(options.output_path));
  EXPECT_TRUE(becomes_true([&] { return !is_running(grandchild); }));
}

TEST_F(Background, LeavesNoGrandchildWhenItEndsByItself) {
  BackgroundProcess::Options options;
  options.output_path = directory_.path() + "/out";
  BackgroundProcess process = start_shell("sleep 1000 & echo $!", options);
  ASSERT_TRUE(process.wait(seconds(30)));
  const pid_t grandchild = std::stoi(text_of(options.output_path));
  EXPECT_TRUE(becomes_true([&] { return !is_running(grandchild); }));
}

TEST_F(Background, MovesWithoutLosingItsProcess) {
  BackgroundProcess first = start_shell("exec sleep 1000");
  const pid_t pid = first.pid();
  BackgroundProcess second = std::move(first);
  EXPECT_EQ(second.pid(), pid);
  EXPECT_TRUE(is_running(pid));
  second = start_shell("exit 0");
  EXPECT_TRUE(second.wait(seconds(30))->ok());
}

// A parent that is killed cannot clean up: the kernel sends the death signal.
TEST_F(Background, GetsItsDeathSignalWhenItsParentIsKilled) {
  BackgroundProcess::Options options;
  options.output_path = directory_.path() + "/out";
  options.death_signal = SIGINT;
  if (::geteuid() == 0) {  // the change of the user must not lose it
    options.command.user = find_user("nobody");
    options.command.working_directory = "/";
  }
  Worker parent = Worker::fork({}, [&] {
    BackgroundProcess process = start_shell(
        "trap 'echo interrupted; exit' INT; echo ready; while :; do sleep 0.1; done", options);
    ::pause();
    return 0;
  });
  ASSERT_TRUE(becomes_true([&] { return text_of(options.output_path) == "ready\n"; }));
  parent.kill();
  EXPECT_TRUE(becomes_true([&] { return text_of(options.output_path) == "ready\ninterrupted\n"; }));
}

TEST_F(Background, RunsAsItsUserWhoOwnsTheOutput) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
  const User nobody = *find_user("nobody");
  BackgroundProcess::Options options;
  options.command.user = nobody;
  options.command.working_directory = "/";
  options.output_path = directory_.path() + "/out";
  BackgroundProcess process = start_shell("id -un", options);
  ASSERT_TRUE(process.wait(seconds(30)));
  EXPECT_EQ(text_of(options.output_path), "nobody\n");
  struct stat file {};
  ASSERT_EQ(::stat(options.output_path.c_str(), &file), 0);
  EXPECT_EQ(file.st_uid, nobody.uid);
}

TEST_F(Background, SaysThatTheProgramDoesNotExist) {
  const Error error =
      error_of([] { BackgroundProcess::start({"no-such-program-of-numabench"}, {}); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("no-such-program-of-numabench"));
}

TEST_F(Background, SaysThatItsOutputCannotBeOpened) {
  BackgroundProcess::Options options;
  options.output_path = "/no/such/directory/log";
  const Error error = error_of([&] { BackgroundProcess::start({"true"}, options); });
  EXPECT_EQ(error.kind(), ErrorKind::kRun);
  EXPECT_THAT(error.what(), HasSubstr("/no/such/directory/log"));
}

}  // namespace
}  // namespace numabench
