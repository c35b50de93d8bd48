// The doctor as a person meets it. What needs root and a kernel of its own is in tests/guests/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/e2e/driver.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class DoctorCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    write_small_experiment(directory_.path());
    // Never the journal of the machine that the tests run on.
    ::setenv("XDG_STATE_HOME", (directory_.path() + "/state").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("XDG_STATE_HOME"); }

  CommandResult call(const std::vector<std::string>& arguments) const {
    return numabench(arguments, directory_.path());
  }
  std::string journal() const { return directory_.path() + "/state/numabench/tuning.json"; }

  TemporaryDirectory directory_;
};

/// The children's limit of open files: below what servers need, on any host a red line.
class FewOpenFiles {
 public:
  FewOpenFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 200;
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewOpenFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewOpenFiles(const FewOpenFiles&) = delete;
  FewOpenFiles& operator=(const FewOpenFiles&) = delete;

 private:
  rlimit before_{};
};

TEST_F(DoctorCommand, PrintsItsSheetForPeopleAndPrograms) {
  const CommandResult text = call({"doctor"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("clocksource"), HasSubstr("wanted:"),
                              HasSubstr("(not fit to publish)")));
  const CommandResult json = call({"doctor", "small.yaml", "--format", "json"});
  EXPECT_EQ(json.exit_code, 0);
  const auto checks = nlohmann::json::parse(json.out);
  EXPECT_GT(checks.size(), 25u);
  for (const auto& check : checks) {
    EXPECT_THAT(check["rating"], ::testing::AnyOf("ok", "note", "warn", "red"));
  }
}

TEST_F(DoctorCommand, RefusesAnUnfitHostUnlessForced) {
  const FewOpenFiles few;
  const std::vector<std::string> run{
      "run",    "small.yaml", "--where",     "arm=stock,ratio=2,workload=zipfian",
      "--db",   "it.db",      "--set",       "host_checks=enforce",
      "--runs", "1",          "--no-figures"};
  const CommandResult refused = call(run);
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("open files limit 200 (wanted: at least"),
                                 HasSubstr("ulimit -n"), HasSubstr("--force")));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/it.db"));

  std::vector<std::string> forced = run;
  forced.emplace_back("--force");
  const CommandResult result = call(forced);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("not fit to publish: open files limit: 200"));
  EXPECT_THAT(call({"report", "it.db", "--format", "markdown"}).out,
              HasSubstr("not fit to publish: open files limit: 200"));
  EXPECT_THAT(query(directory_.path() + "/it.db",
                    "SELECT count(*) FROM host, json_each(snapshot_json, '$.checks')"
                    " WHERE json_extract(value, '$.rating') = 'red'"),
              Not(::testing::ElementsAre("0")));
}

TEST_F(DoctorCommand, LetsAnUnfitHostRunWithAWarning) {
  const FewOpenFiles few;
  for (const char* how : {"--smoke", "--set=host_checks=warn"}) {
    const CommandResult result =
        call({"run", "small.yaml", "--where", "arm=stock,ratio=2,workload=zipfian", "--set",
              "host_checks=enforce", how, "--runs", "1", "--no-figures"});
    EXPECT_EQ(result.exit_code, 0) << how << result.err;
    EXPECT_THAT(result.out, HasSubstr("not fit to publish: open files limit")) << how;
  }
}

TEST_F(DoctorCommand, TellsOfAnOpenJournalUntilItIsRestored) {
  EXPECT_THAT(call({"topology"}).err, Not(HasSubstr(directory_.path())));
  const std::string boot_id = read_file("/proc/sys/kernel/random/boot_id");
  nlohmann::json cut_off = {{"numabench_journal", 1},
                            {"started_at", "2026-11-30T10:00:00Z"},
                            {"boot_id", boot_id.substr(0, boot_id.find('\n'))},
                            {"complete", false},
                            {"entries", nlohmann::json::array()}};
  write_file(journal(), cut_off.dump());
  EXPECT_THAT(call({"topology"}).err, AllOf(HasSubstr("2026-11-30T10:00:00Z was cut off"),
                                            HasSubstr("numabench doctor --restore")));
  EXPECT_EQ(call({"doctor", "--restore"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(journal()));
  const CommandResult again = call({"doctor", "--restore"});
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_THAT(again.err, HasSubstr("nothing to put back"));
}

TEST_F(DoctorCommand, ChecksTheKeysOfAConfig) {
  const auto error_of = [&](const std::string& setting) {
    const CommandResult result = call({"plan", "small.yaml", "--set", setting});
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_THAT(error_of("host_checks=maybe"), HasSubstr("enforce"));
  EXPECT_THAT(error_of("host_settings={turbos: off}"), HasSubstr("turbo"));
  EXPECT_THAT(error_of("host_settings={turbo: 3}"), HasSubstr("'turbo'"));
}

TEST_F(DoctorCommand, ProbesThisHost) {
  const CommandResult result = call(
      {"probe", "--size", "4MiB", "--seconds", "0.001", "--db", "probe.db", "--output", "maps"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("load latency, ns"), HasSubstr("copy bandwidth, GiB/s"),
                                HasSubstr("cache-line hand-over, ns"), HasSubstr("adds/s")));
  EXPECT_TRUE(std::filesystem::exists(directory_.path() + "/maps/load-latency.png"));
  EXPECT_THAT(query(directory_.path() + "/probe.db",
                    "SELECT name FROM probe WHERE name = 'load latency' AND value > 0 LIMIT 1"),
              Not(IsEmpty()));
  EXPECT_EQ(call({"probe", "--size", "8"}).exit_code, 2);
  EXPECT_EQ(
      call({"probe", "--size", "4MiB", "--seconds", "0.001", "--storage", "/dev/null"}).exit_code,
      2);
}

}  // namespace
}  // namespace numabench
