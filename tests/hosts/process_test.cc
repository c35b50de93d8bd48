#include "hosts/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/hosts/error_of.h"
#include "tests/hosts/kernel_view.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

// Every test must leave this process as it found it: no descriptor and no child more.
class RunCommand : public ::testing::Test {
 protected:
  void SetUp() override { open_files_ = count_open_files(); }
  void TearDown() override {
    EXPECT_EQ(count_open_files(), open_files_) << "a descriptor leaked";
    EXPECT_TRUE(has_no_children()) << "a child is left";
  }

 private:
  int open_files_ = 0;
};

TEST_F(RunCommand, KeepsTheStreamsApart) {
  const auto result = run_command({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.ok());
}

TEST_F(RunCommand, PassesArgumentsUntouched) {
  const std::string nasty = "a b\t'c' \"d\" $HOME `id` * \\ ; | & \n";
  EXPECT_EQ(run_command({"printf", "%s|", nasty, "", "--"}).out, nasty + "||--|");
}

TEST_F(RunCommand, AlwaysSpeaksC) {
  CommandOptions options;
  options.environment = {{"LC_ALL", "de_DE.UTF-8"}, {"NUMABENCH_TEST", "a=b"}};
  const std::string out = run_command({"/usr/bin/env"}, options).out;
  EXPECT_THAT(out, HasSubstr("LC_ALL=C\n"));
  EXPECT_THAT(out, Not(HasSubstr("de_DE")));
  EXPECT_THAT(out, HasSubstr("NUMABENCH_TEST=a=b\n"));
  EXPECT_THAT(out, HasSubstr("PATH=")) << "our own environment is passed on";
}

TEST_F(RunCommand, ReadsNothingFromOurStandardInput) {
  const auto result = run_command({"/bin/cat"});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.out, "");
}

TEST_F(RunCommand, ReportsTheSignal) {
  const auto result = run_command({"sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(result.exit_code, -1);
  EXPECT_FALSE(result.ok());
}

TEST_F(RunCommand, DropsWhatExceedsTheLimitAndLetsTheWriterEnd) {
  CommandOptions options;
  options.output_limit_bytes = 1000;
  const auto result = run_command({"head", "-c", "10000000", "/dev/zero"}, options);
  EXPECT_TRUE(result.ok()) << "neither blocked nor killed by SIGPIPE";
  EXPECT_EQ(result.out, std::string(1000, '\0'));
  EXPECT_TRUE(result.output_truncated);
}

TEST_F(RunCommand, DrainsBothStreamsAtOnce) {
  CommandOptions options;
  options.output_limit_bytes = 4'000'000;
  const auto result = run_command(
      {"sh", "-c", "head -c 3000000 /dev/zero >&2 & head -c 3000000 /dev/zero; wait"}, options);
  EXPECT_EQ(result.out.size(), 3'000'000u);
  EXPECT_EQ(result.err.size(), 3'000'000u);
  EXPECT_FALSE(result.output_truncated);
}

TEST_F(RunCommand, WorksInTheGivenDirectory) {
  const TemporaryDirectory directory;
  CommandOptions options;
  options.working_directory = directory.path();
  EXPECT_EQ(run_command({"/bin/pwd"}, options).out, directory.path() + "\n");
}

TEST_F(RunCommand, SaysThatTheProgramDoesNotExist) {
  const Error error = error_of([] { run_command({"no-such-program-of-numabench"}); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("no-such-program-of-numabench"));
  EXPECT_THAT(error.what(), HasSubstr("PATH"));
}

TEST_F(RunCommand, SaysWhyTheProgramCannotBeStarted) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("not_executable", "text");
  const Error error = error_of([&] { run_command({file}); });
  EXPECT_EQ(error.kind(), ErrorKind::kRun);
  EXPECT_THAT(error.what(), HasSubstr("Permission denied"));
}

// A script that is there and whose interpreter is not: the kernel says ENOENT of it.
TEST_F(RunCommand, DoesNotCallAScriptWithoutInterpreterAbsent) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("script", "#!/no/such/interpreter\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  EXPECT_EQ(error_of([&] { run_command({file}); }).kind(), ErrorKind::kRun);
}

TEST_F(RunCommand, BlamesTheDirectoryAndNotTheProgram) {
  CommandOptions options;
  options.working_directory = "/no/such/directory";
  const Error error = error_of([&] { run_command({"/bin/true"}, options); });
  EXPECT_EQ(error.kind(), ErrorKind::kRun);
  EXPECT_THAT(error.what(), HasSubstr("/no/such/directory"));
}

TEST_F(RunCommand, RefusesToRunWhereItWasNotPlaced) {
  CommandOptions options;
  options.placement.cpus = {100'000};
  const Error error = error_of([&] { run_command({"/bin/true"}, options); });
  EXPECT_EQ(error.kind(), ErrorKind::kRun);
  EXPECT_THAT(error.what(), HasSubstr("sched_setaffinity"));
  EXPECT_THAT(error.what(), HasSubstr("100000"));
}

TEST_F(RunCommand, PlacesTheProgram) {
  const IdSet allowed = *parse_id_list(status_value(::getpid(), "Cpus_allowed_list"));
  CommandOptions options;
  options.placement.cpus = {*allowed.rbegin()};
  const std::string status = run_command({"/bin/cat", "/proc/self/status"}, options).out;
  EXPECT_THAT(status, HasSubstr("Cpus_allowed_list:\t" + std::to_string(*allowed.rbegin()) + "\n"));
}

TEST_F(RunCommand, ResetsWhatTheParentIgnoresAndBlocks) {
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto previous = ::signal(SIGPIPE, SIG_IGN);
  const std::string status = run_command({"/bin/cat", "/proc/self/status"}).out;
  ::signal(SIGPIPE, previous);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_THAT(status, HasSubstr("SigBlk:\t0000000000000000\n"));
  EXPECT_THAT(status, HasSubstr("SigIgn:\t0000000000000000\n"));
}

TEST_F(RunCommand, CountsWhatTheCommandUsed) {
  // A grandchild of known appetite: dd's buffer of 64 MiB.
  const auto result =
      run_command({"sh", "-c", "dd if=/dev/zero of=/dev/null bs=64M count=1; true"});
  ASSERT_TRUE(result.ok()) << result.err;
  EXPECT_GE(result.usage.ru_maxrss, 64 * 1024) << "in KiB";
}

pid_t printed_pid(const CommandResult& result) { return static_cast<pid_t>(std::stol(result.out)); }

// Runs the shell script into its timeout; again with a longer one should a busy host not have let
// it print its grandchild's pid.
CommandResult run_into_timeout(const std::string& script) {
  CommandOptions options;
  options.timeout = milliseconds(300);
  CommandResult result = run_command({"sh", "-c", script}, options);
  while (result.out.empty() && options.timeout < std::chrono::minutes(1)) {
    options.timeout *= 2;
    result = run_command({"sh", "-c", script}, options);
  }
  return result;
}

TEST_F(RunCommand, EndsTheGrandchildrenAtTheTimeout) {
  const auto result = run_into_timeout("sleep 1000 & echo $!; wait");
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.signal, SIGTERM) << "asked politely first";
  EXPECT_TRUE(becomes_true([&] { return !is_running(printed_pid(result)); }));
}

TEST_F(RunCommand, KillsWhoIgnoresTerm) {
  const auto result = run_into_timeout("trap '' TERM; sleep 1000 & echo $!; wait");
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_TRUE(becomes_true([&] { return !is_running(printed_pid(result)); }));
}

// The grandchild holds our pipes: waiting for their end would take its thousand seconds.
TEST_F(RunCommand, LeavesNoGrandchildBehindAndDoesNotWaitForIt) {
  const auto result = run_command({"sh", "-c", "sleep 1000 & echo $!"});
  EXPECT_TRUE(result.ok());
  EXPECT_FALSE(result.timed_out);
  EXPECT_TRUE(becomes_true([&] { return !is_running(printed_pid(result)); }));
}

TEST_F(RunCommand, IsNotKeptByADaemonThatGoesOnWriting) {
  const auto result = run_command({"sh", "-c", "setsid yes & echo $!"});
  EXPECT_FALSE(result.timed_out);
  ::kill(printed_pid(result), SIGKILL);
}

TEST_F(RunCommand, WithoutProgramIsADefect) {
  EXPECT_EQ(error_of([] { run_command({}); }).kind(), ErrorKind::kInternal);
}

}  // namespace
}  // namespace numabench
