#include "hosts/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/hosts/error_of.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = SettingOutcome::Kind;

void ignore(const SettingOutcome&) {}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A made-up host and a state directory, neither this machine's.
class Tuning : public ::testing::Test {
 protected:
  void SetUp() override {
    root_.write("/proc/sys/kernel/random/boot_id", "first\n");
    for (const HostSetting& setting : kWanted) root_.write(setting.path, "1\n");
  }

  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> contents;
    for (const HostSetting& setting : kWanted) contents[setting.path] = value(setting.path);
    return contents;
  }
  std::string value(const std::string& path) const {
    std::string text = content(root_.path() + path);
    text.erase(text.find_last_not_of('\n') + 1);
    return text;
  }
  std::string journal() const { return content(tuning_.journal_path()); }

  /// A process that applies kWanted and stands still after `settings` of them, as one that is
  /// killed there; returns when it has got so far.
  pid_t apply_until(std::size_t settings) const {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      std::size_t done = 0;
      tuning_.apply(kWanted, [&](const SettingOutcome&) {
        if (++done < settings) return;
        EXPECT_EQ(::write(ready[1], "x", 1), 1);
        ::pause();
      });
      ::_exit(1);
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    return pid;
  }

  static void kill_9(pid_t pid) {
    ::kill(pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }

  const std::vector<HostSetting> kWanted{{"balancing", "/proc/sys/kernel/numa_balancing", "0"},
                                         {"swappiness", "/proc/sys/vm/swappiness", "5"},
                                         {"aslr", "/proc/sys/kernel/randomize_va_space", "2"}};
  TemporaryDirectory root_;
  TemporaryDirectory state_;
  HostTuning tuning_{state_.path() + "/numabench", root_.path()};
};

TEST_F(Tuning, SetsAndPutsBack) {
  const auto before = files();
  std::vector<std::string> heard;
  const auto outcomes = tuning_.apply(
      kWanted, [&](const SettingOutcome& outcome) { heard.push_back(outcome.setting.name); });
  EXPECT_THAT(heard, ElementsAre("balancing", "swappiness", "aslr"));
  for (const SettingOutcome& outcome : outcomes) EXPECT_EQ(outcome.kind, Kind::kChanged);
  EXPECT_EQ(value("/proc/sys/vm/swappiness"), "5");
  ASSERT_TRUE(tuning_.open_journal());
  EXPECT_TRUE(tuning_.open_journal()->complete);

  EXPECT_THAT(tuning_.restore(false, ignore), SizeIs(3));
  EXPECT_EQ(files(), before);
  EXPECT_FALSE(tuning_.open_journal());
}

TEST_F(Tuning, ChangesNothingThatIsRightAndKeepsNoJournalOfIt) {
  root_.write(kWanted[0].path, "0\n");
  const auto outcomes = tuning_.apply({kWanted[0]}, ignore);
  EXPECT_EQ(outcomes.at(0).kind, Kind::kAlready);
  EXPECT_FALSE(tuning_.open_journal());
  EXPECT_EQ(error_of([&] { tuning_.restore(false, ignore); }).kind(), ErrorKind::kPreflight);
}

TEST_F(Tuning, TakesTheChosenWord) {
  root_.write("/thp", "always [madvise] never\n");
  tuning_.apply({{"thp", "/thp", "never"}}, ignore);
  EXPECT_EQ(value("/thp"), "never");
  tuning_.restore(false, ignore);
  EXPECT_EQ(value("/thp"), "madvise");
}

// Wherever a process dies, its journal knows all that it could have changed.
TEST_F(Tuning, PutsBackAfterAKillAtAnyPoint) {
  const auto before = files();
  for (std::size_t done = 1; done <= kWanted.size(); ++done) {
    SCOPED_TRACE(done);
    kill_9(apply_until(done));
    EXPECT_EQ(value(kWanted[done - 1].path), kWanted[done - 1].value);
    ASSERT_TRUE(tuning_.open_journal());
    EXPECT_FALSE(tuning_.open_journal()->complete);
    EXPECT_THAT(tuning_.open_journal()->entries, SizeIs(kWanted.size()));
    EXPECT_FALSE(tuning_.is_locked()) << "a lock must not outlive its process";

    for (const SettingOutcome& outcome : tuning_.restore(false, ignore)) {
      EXPECT_EQ(outcome.problem, "");
    }
    EXPECT_EQ(files(), before);
    EXPECT_FALSE(tuning_.open_journal());
  }
}

TEST_F(Tuning, PutsBackAfterAKillDuringRestore) {
  const auto before = files();
  tuning_.apply(kWanted, ignore);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    tuning_.restore(false, [&](const SettingOutcome&) {
      EXPECT_EQ(::write(ready[1], "x", 1), 1);
      ::pause();
    });
    ::_exit(1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  ::close(ready[1]);
  kill_9(pid);
  EXPECT_NE(files(), before);
  tuning_.restore(false, ignore);
  EXPECT_EQ(files(), before);
}

TEST_F(Tuning, IsDoneByOneProcessAtATime) {
  const pid_t other = apply_until(1);
  EXPECT_TRUE(tuning_.is_locked());
  EXPECT_THAT(error_of([&] { tuning_.apply(kWanted, ignore); }).what(),
              HasSubstr("another numabench"));
  EXPECT_THAT(error_of([&] { tuning_.restore(false, ignore); }).what(),
              HasSubstr("another numabench"));
  kill_9(other);
  tuning_.restore(false, ignore);
}

TEST_F(Tuning, KeepsOneJournalOnly) {
  tuning_.apply({kWanted[0]}, ignore);
  const std::string journal_before = journal();
  const Error error = error_of([&] { tuning_.apply(kWanted, ignore); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("doctor --restore"));
  EXPECT_EQ(value(kWanted[1].path), "1");
  EXPECT_EQ(journal(), journal_before);
}

TEST_F(Tuning, LeavesAloneWhatSomebodyElseHasChanged) {
  tuning_.apply(kWanted, ignore);
  root_.write(kWanted[1].path, "60\n");
  const auto outcomes = tuning_.restore(false, ignore);
  ASSERT_EQ(outcomes.at(1).kind, Kind::kForeign);
  EXPECT_THAT(outcomes.at(1).problem, HasSubstr("60"));
  EXPECT_EQ(value(kWanted[0].path), "1");
  EXPECT_EQ(value(kWanted[1].path), "60");
  ASSERT_TRUE(tuning_.open_journal());
  EXPECT_THAT(tuning_.open_journal()->entries, SizeIs(1));

  EXPECT_EQ(tuning_.restore(true, ignore).at(0).kind, Kind::kChanged);
  EXPECT_EQ(value(kWanted[1].path), "1");
  EXPECT_FALSE(tuning_.open_journal());
}

TEST_F(Tuning, SaysWhatIsMissingOrReadOnlyAndSetsTheRest) {
  // Whatever the user, the kernel refuses this one.
  std::filesystem::create_symlink("/proc/version", root_.path() + "/read-only");
  const auto outcomes = tuning_.apply(
      {{"missing", "/nowhere", "1"}, {"fixed", "/read-only", "1"}, kWanted[0]}, ignore);
  std::map<std::string, SettingOutcome> by_name;
  for (const SettingOutcome& outcome : outcomes) by_name[outcome.setting.name] = outcome;
  ASSERT_THAT(by_name, SizeIs(3));
  EXPECT_EQ(by_name["missing"].kind, Kind::kFailed);
  EXPECT_EQ(by_name["missing"].problem, "No such file or directory");
  EXPECT_EQ(by_name["fixed"].kind, Kind::kFailed);
  EXPECT_NE(by_name["fixed"].problem, "");
  EXPECT_EQ(by_name["balancing"].kind, Kind::kChanged);
  tuning_.restore(false, ignore);
  EXPECT_EQ(value(kWanted[0].path), "1");
}

// The kernel cuts the name of a process to 15 letters, as it cuts nr_hugepages, without a word.
TEST_F(Tuning, NoticesWhatDidNotTake) {
  const HostTuning tuning(state_.path(), "");
  const std::string before = content("/proc/self/comm");
  const auto outcomes = tuning.apply({{"name", "/proc/self/comm", "longer-than-fifteen"}}, ignore);
  EXPECT_EQ(outcomes.at(0).kind, Kind::kFailed);
  EXPECT_THAT(outcomes.at(0).problem, HasSubstr("longer-than-fif"));
  EXPECT_EQ(tuning.restore(false, ignore).at(0).kind, Kind::kChanged)
      << "what became of it is ours to undo";
  EXPECT_EQ(content("/proc/self/comm"), before);
}

// A kill while the kernel was still making huge pages leaves a number that nobody asked for.
TEST_F(Tuning, TakesAnUnfinishedNumberOfHugePagesForItsOwn) {
  const std::string path = "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages";
  root_.write(path, "8\n");
  tuning_.apply({{"huge pages", path, "1000"}}, ignore);
  auto json = nlohmann::json::parse(journal());
  json["complete"] = false;
  json["entries"][0]["observed"] = "";
  for (const char* left : {"567", "8", "1000"}) {
    SCOPED_TRACE(left);
    state_.write("numabench/tuning.json", json.dump());
    root_.write(path, std::string(left) + "\n");
    tuning_.restore(false, ignore);
    EXPECT_EQ(value(path), "8");
  }
  state_.write("numabench/tuning.json", json.dump());
  root_.write(path, "2000\n");
  EXPECT_EQ(tuning_.restore(false, ignore).at(0).kind, Kind::kForeign);
}

// vm.dirty_bytes goes back to 0 only when vm.dirty_ratio is written.
TEST_F(Tuning, KnowsWhatBringsBackAZeroOfDirtyBytes) {
  root_.write("/proc/sys/vm/dirty_bytes", "0\n");
  root_.write("/proc/sys/vm/dirty_ratio", "20\n");
  tuning_.apply({{"dirty bytes", "/proc/sys/vm/dirty_bytes", "4096000"}}, ignore);
  const TuningJournal journal = *tuning_.open_journal();
  EXPECT_EQ(journal.entries.at(0).restore_path, "/proc/sys/vm/dirty_ratio");
  EXPECT_EQ(journal.entries.at(0).restore_value, "20");
}

TEST_F(Tuning, WritesNothingAfterAReboot) {
  tuning_.apply(kWanted, ignore);
  root_.write("/proc/sys/kernel/random/boot_id", "second\n");
  EXPECT_THAT(tuning_.restore(false, ignore), IsEmpty());
  EXPECT_EQ(value(kWanted[1].path), "5");
  EXPECT_FALSE(tuning_.open_journal());
}

TEST_F(Tuning, RefusesAFileThatIsNoJournal) {
  state_.write("numabench/tuning.json", "{\"entries\": 3");
  EXPECT_THAT(error_of([&] { tuning_.open_journal(); }).what(), HasSubstr(tuning_.journal_path()));
  EXPECT_EQ(error_of([&] { tuning_.apply(kWanted, ignore); }).kind(), ErrorKind::kPreflight);
  EXPECT_EQ(value(kWanted[0].path), "1");
}

TEST_F(Tuning, ChangesNothingWithoutAPlaceForTheJournal) {
  state_.write("file", "");
  const HostTuning tuning(state_.path() + "/file/below", root_.path());
  EXPECT_EQ(error_of([&] { tuning.apply(kWanted, ignore); }).kind(), ErrorKind::kPreflight);
  EXPECT_EQ(value(kWanted[0].path), "1");
}

}  // namespace
}  // namespace numabench
