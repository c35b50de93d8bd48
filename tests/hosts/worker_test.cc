#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "hosts/process.h"
#include "tests/hosts/channel.h"
#include "tests/hosts/kernel_view.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

class WorkerTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(has_no_children()) << "a worker is left"; }
};

TEST_F(WorkerTest, ReturnsTheResultOfItsBody) {
  Worker worker = Worker::fork({}, [] { return 42; });
  const auto exit = worker.wait(seconds(60));
  EXPECT_EQ(exit.exit_code, 42);
  EXPECT_EQ(exit.signal, 0);
  EXPECT_FALSE(exit.ok());
  EXPECT_EQ(worker.wait(seconds(60)).exit_code, 42) << "may be asked again";
  EXPECT_EQ(worker.poll()->exit_code, 42);
}

TEST_F(WorkerTest, TurnsAnExceptionIntoItsTextAndExitCode) {
  ::testing::internal::CaptureStderr();
  Worker worker = Worker::fork({}, []() -> int { throw std::runtime_error("the body failed"); });
  EXPECT_EQ(worker.wait(seconds(60)).exit_code, 70);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("the body failed"));
}

TEST_F(WorkerTest, DoesNotRunWithoutItsPlacement) {
  Channel ran;
  ::testing::internal::CaptureStderr();
  Worker worker = Worker::fork({{100'000}, MemoryPolicy::kDefault, {}}, [&] {
    ran.send('x');
    return 0;
  });
  EXPECT_EQ(worker.wait(seconds(60)).exit_code, 70);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("sched_setaffinity"));
  EXPECT_TRUE(ran.is_empty());
}

TEST_F(WorkerTest, PollDoesNotBlock) {
  Channel go;
  Worker worker = Worker::fork({}, [&] { return go.receive<int>(); });
  EXPECT_EQ(worker.poll(), std::nullopt);
  go.send(7);
  std::optional<Worker::Exit> exit;
  ASSERT_TRUE(becomes_true([&] { return (exit = worker.poll()).has_value(); }));
  EXPECT_EQ(exit->exit_code, 7);
}

TEST_F(WorkerTest, IgnoresInterrupts) {
  Channel ready, go;
  Worker worker = Worker::fork({}, [&] {
    ready.send('x');
    return go.receive<int>();
  });
  ready.receive<char>();
  ::kill(worker.pid(), SIGINT);
  go.send(0);
  EXPECT_TRUE(worker.wait(seconds(60)).ok());
}

void ignore_signal(int) {}

TEST_F(WorkerTest, DiesOfTermWhateverTheParentDoesWithIt) {
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto previous = ::signal(SIGTERM, ignore_signal);
  Channel ready;
  Worker worker = Worker::fork({}, [&]() -> int {
    ready.send('x');
    sleep_for_ever();
  });
  ::signal(SIGTERM, previous);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ready.receive<char>();
  ::kill(worker.pid(), SIGTERM);
  EXPECT_EQ(worker.wait(seconds(60)).signal, SIGTERM);
}

TEST_F(WorkerTest, IsAskedToEndAtTheTimeout) {
  Worker worker = Worker::fork({}, []() -> int { sleep_for_ever(); });
  EXPECT_EQ(worker.wait(milliseconds(50)).signal, SIGTERM);
}

TEST_F(WorkerTest, IsKilledWhenItDoesNotListen) {
  Channel ready;
  Worker worker = Worker::fork({}, [&]() -> int {
    ::signal(SIGTERM, SIG_IGN);
    ready.send('x');
    sleep_for_ever();
  });
  ready.receive<char>();
  EXPECT_EQ(worker.wait(milliseconds(1)).signal, SIGKILL);
}

TEST_F(WorkerTest, DiesWithItsOwner) {
  pid_t pid = 0;
  {
    const Worker worker = Worker::fork({}, []() -> int { sleep_for_ever(); });
    pid = worker.pid();
    EXPECT_TRUE(is_running(pid));
  }
  EXPECT_EQ(::kill(pid, 0), -1) << "neither alive nor a zombie";
}

TEST_F(WorkerTest, BelongsToOneOwnerAfterAMove) {
  Worker first = Worker::fork({}, [] { return 1; });
  const pid_t pid = first.pid();
  Worker second = std::move(first);
  EXPECT_EQ(second.pid(), pid);
  second = Worker::fork({}, [] { return 2; });
  EXPECT_EQ(second.wait(seconds(60)).exit_code, 2);
}

// The middle process is killed as the operator's `kill -9 numabench` would; no destructor runs.
TEST_F(WorkerTest, DiesWithItsParent) {
  Channel pids;
  Worker middle = Worker::fork({}, [&]() -> int {
    const Worker worker = Worker::fork({}, []() -> int { sleep_for_ever(); });
    pids.send(worker.pid());
    sleep_for_ever();
  });
  const auto pid = pids.receive<pid_t>();
  EXPECT_TRUE(is_running(pid));
  middle.kill();
  EXPECT_TRUE(becomes_true([&] { return !is_running(pid); }));
}

TEST_F(WorkerTest, DoesNotWriteWhatTheParentHasBuffered) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("log", "");
  std::FILE* file = std::fopen(path.c_str(), "w");
  std::fputs("once", file);
  Worker worker = Worker::fork({}, [&] {
    for (int i = 0; i < 100'000; ++i) std::fputc('.', file);
    std::fflush(file);
    return 0;
  });
  EXPECT_TRUE(worker.wait(seconds(60)).ok());
  std::fclose(file);
  EXPECT_EQ(std::filesystem::file_size(path), 4u + 100'000u);
}

Channel* exit_messages = nullptr;

struct SaysGoodbye {
  ~SaysGoodbye() { exit_messages->send('d'); }
};

TEST_F(WorkerTest, RunsNothingOfTheParentsAtItsExit) {
  Channel messages;
  exit_messages = &messages;
  Worker middle = Worker::fork({}, []() -> int {
    const SaysGoodbye goodbye;
    std::atexit([] { exit_messages->send('a'); });
    Worker worker = Worker::fork({}, [] { return 0; });
    worker.wait(seconds(60));
    ::_exit(0);
  });
  EXPECT_TRUE(middle.wait(seconds(60)).ok());
  EXPECT_TRUE(messages.is_empty());
}

TEST_F(WorkerTest, ReportsWhatItUsed) {
  Worker worker = Worker::fork({}, [] {
    rusage usage{};
    do {
      ::getrusage(RUSAGE_SELF, &usage);
    } while (usage.ru_utime.tv_sec == 0 && usage.ru_utime.tv_usec < 50'000);
    return 0;
  });
  const auto exit = worker.wait(seconds(60));
  EXPECT_GE(exit.usage.ru_utime.tv_sec * 1'000'000 + exit.usage.ru_utime.tv_usec, 50'000);
}

}  // namespace
}  // namespace numabench
