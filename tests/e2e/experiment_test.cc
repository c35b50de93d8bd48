// An experiment from beginning to end with the numabench of this build: what it prints, keeps and
// draws, what a kill or Ctrl-C leaves behind, and what a resume adds.
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/e2e/driver.h"
#include "tests/paths.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kQuick = source_dir() + "/configs/quick.yaml";

// What identifies a run, whatever was measured in it.
constexpr const char* kRunsOk =
    "SELECT cell.hash, run.repetition, run.run_order, run.block, run.block_position, run.seed "
    "FROM run JOIN cell ON cell.id = run.cell_id WHERE run.status = 'ok' "
    "ORDER BY cell.hash, run.repetition";

class ExperimentRun : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return directory_.path() + "/" + name; }
  void SetUp() override { write_small_experiment(directory_.path()); }

  static std::vector<std::string> small_run(const std::string& where) {
    return {"run", "small.yaml", "--where", where, "--db", "it.db", "--no-figures"};
  }

  CommandResult call(const std::vector<std::string>& arguments) {
    return numabench(arguments, directory_.path());
  }
  std::vector<std::string> query(const std::string& sql) {
    return numabench::query(file("it.db"), sql);
  }
  int runs_stored() {
    if (!fs::exists(file("it.db"))) return 0;
    const CommandResult count =
        run_command({"sqlite3", "-readonly", file("it.db"), "SELECT count(*) FROM run"});
    return count.ok() ? std::stoi(count.out) : 0;  // the schema may not be there yet
  }
  // False when that took longer than any working program needs.
  bool wait_for_runs(int wanted) {
    for (int i = 0; i < 1000; ++i) {
      if (runs_stored() >= wanted) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  std::string background_log() { return read_file(file("background.log")); }

  TemporaryDirectory directory_;
};

std::vector<fs::path> files_below(const fs::path& root, const std::string& extension) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() == extension) found.push_back(entry.path());
  }
  return found;
}

TEST_F(ExperimentRun, RunsEveryCellThreeTimesAndPrintsTables) {
  const CommandResult run = call(small_run("ratio=2"));
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;

  EXPECT_THAT(query("SELECT count(*) FROM cell"), ElementsAre("9"));
  EXPECT_THAT(query("SELECT count(*) FROM run GROUP BY cell_id"), Each("3"));
  EXPECT_THAT(query("SELECT DISTINCT status FROM run"), ElementsAre("ok"));
  EXPECT_THAT(query("SELECT count(*) FROM value WHERE metric = 'tps' AND value > 0"),
              ElementsAre("18"))
      << "zipfian and hotscan have point clients";
  EXPECT_THAT(query("SELECT count(DISTINCT run_id) FROM placement_proof"), ElementsAre("27"));
  EXPECT_THAT(query("SELECT smoke, runs_per_cell FROM experiment"), ElementsAre("0|3"));

  EXPECT_THAT(lines_of(run.err), Contains(StartsWith("[ 1/27] ")).Times(1));
  EXPECT_THAT(lines_of(run.err), Contains(StartsWith("[27/27] ")).Times(1));
  for (const char* word : {"zipfian", "hotscan", "seqscan", "stock", "numa-only", "full-series"}) {
    EXPECT_THAT(run.out, HasSubstr(word));
  }
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("\033"))) << "neither stream is a terminal";
}

TEST_F(ExperimentRun, TheQuickExperimentPassesItsSmokeRunWithFigures) {
  const CommandResult run = call(
      {"run", kQuick, "--smoke", "--set", "warmup=0.1s", "--where", "ratio=2", "--db", "it.db"});
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
  EXPECT_THAT(query("SELECT DISTINCT status FROM run"), ElementsAre("ok"));
  EXPECT_THAT(query("SELECT (SELECT count(*) FROM cell) - count(*) FROM run"), ElementsAre("0"));
  EXPECT_THAT(query("SELECT smoke FROM experiment"), ElementsAre("1"));

  const auto drawings = files_below(directory_.path(), ".svg");
  const auto pictures = files_below(directory_.path(), ".png");
  ASSERT_THAT(drawings, Not(IsEmpty()));
  EXPECT_EQ(drawings.size(), pictures.size());
  for (const fs::path& drawing : drawings) {
    EXPECT_THAT(read_file(drawing), HasSubstr("</svg>")) << drawing;
  }
  for (const fs::path& picture : pictures) {
    EXPECT_THAT(read_file(picture), StartsWith("\x89PNG")) << picture;
  }
}

TEST_F(ExperimentRun, EveryReportShowsTheMediansThatSqliteComputes) {
  ASSERT_EQ(call(small_run("ratio=2,workload=zipfian,arm!=numa-only")).exit_code, 0);
  const std::string median_of_stock =
      query(
          "SELECT value FROM value JOIN run ON run.id = run_id JOIN cell ON cell.id = cell_id "
          "WHERE metric = 'tps' AND arm = 'stock' ORDER BY value LIMIT 1 OFFSET 1")
          .at(0);

  const CommandResult json = call({"report", "it.db", "--format", "json", "--metric", "tps"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_TRUE(nlohmann::json::accept(json.out));
  EXPECT_THAT(json.out, HasSubstr(median_of_stock.substr(0, 6)));
  EXPECT_THAT(call({"report", "it.db", "--format", "markdown"}).out, HasSubstr("| full-series"));
  EXPECT_THAT(call({"report", "it.db", "--format", "csv"}).out, HasSubstr("full-series"));

  const CommandResult by_other_arm = call({"compare", "it.db", "--baseline", "full-series"});
  EXPECT_EQ(by_other_arm.exit_code, 0) << by_other_arm.err;
  EXPECT_NE(by_other_arm.out, call({"compare", "it.db"}).out);
}

TEST_F(ExperimentRun, ExportHoldsEveryRawRun) {
  ASSERT_EQ(call(small_run("ratio=2,workload=zipfian,arm=stock")).exit_code, 0);

  ASSERT_EQ(call({"export", "it.db", "--format", "csv", "-o", "runs.csv"}).exit_code, 0);
  // sqlite3 reads the file by RFC 4180 and gives its header's names to the columns.
  const CommandResult table = run_command(
      {"sqlite3", ":memory:", ".import --csv " + (file("runs.csv")) + " runs",
       "SELECT count(*), count(DISTINCT repetition), min(arm), min(CAST(tps AS REAL)) > 0 FROM "
       "runs"});
  EXPECT_EQ(table.out, "3|3|stock|1\n") << table.err;

  const CommandResult json = call({"export", "it.db", "--format", "json"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const nlohmann::json document = nlohmann::json::parse(json.out);
  ASSERT_THAT(document.at("cells"), SizeIs(1));
  EXPECT_THAT(document.at("cells").at(0).at("runs"), SizeIs(3));
}

TEST_F(ExperimentRun, AfterKillResumeGivesExactlyTheRunsOfAnUndisturbedOne) {
  const std::vector<std::string> arguments = small_run("workload=zipfian");
  const CommandResult whole = call(arguments);
  ASSERT_EQ(whole.exit_code, 0) << whole.out << whole.err;
  const std::vector<std::string> undisturbed = query(kRunsOk);
  ASSERT_THAT(undisturbed, SizeIs(27));
  fs::rename(file("it.db"), file("undisturbed.db"));

  {
    const Worker worker = start_numabench(arguments, directory_.path());
    ASSERT_TRUE(wait_for_runs(3)) << background_log();
    ::kill(worker.pid(), SIGKILL);
  }
  const std::vector<std::string> kept = query(kRunsOk);
  EXPECT_GE(kept.size(), 3u);
  ASSERT_LT(kept.size(), undisturbed.size()) << "killed too late to show anything";
  EXPECT_THAT(query("PRAGMA integrity_check"), ElementsAre("ok"));

  const CommandResult status = call({"status", "it.db"});
  EXPECT_THAT(status.out, HasSubstr(std::to_string(kept.size()) + " of 27 runs ok"));
  const CommandResult resume = call({"resume", "it.db", "--no-figures"});
  ASSERT_EQ(resume.exit_code, 0) << resume.err;
  EXPECT_EQ(query(kRunsOk), undisturbed);
  EXPECT_THAT(query("SELECT count(*) FROM run"), ElementsAre("27")) << "no run was done twice";
  EXPECT_THAT(query("SELECT count(*) FROM experiment"), ElementsAre("1"));

  const CommandResult again = call({"resume", "it.db", "--no-figures"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(query("SELECT count(*) FROM run"), ElementsAre("27")) << "nothing was missing";
}

TEST_F(ExperimentRun, ClientsDieWithAKilledNumabench) {
  {
    const Worker worker = start_numabench(small_run("ratio=2"), directory_.path());
    ASSERT_TRUE(wait_for_runs(1)) << background_log();
    ::kill(worker.pid(), SIGKILL);
  }
  // Clients are forks, without a command line of their own, but in the folder of their parent.
  const auto in_our_folder = [&] {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::error_code gone;
      const fs::path folder = fs::read_symlink(entry.path() / "cwd", gone);
      if (!gone && folder == directory_.path()) found.push_back(entry.path().filename());
    }
    return found;
  };
  for (int i = 0; i < 100 && !in_our_folder().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_THAT(in_our_folder(), IsEmpty());
}

TEST_F(ExperimentRun, CtrlCKeepsFinishedRunsAndPrintsTheCommandThatResumes) {
  Worker worker = start_numabench(small_run("workload=zipfian"), directory_.path());
  ASSERT_TRUE(wait_for_runs(2)) << background_log();
  ::kill(worker.pid(), SIGINT);
  const Worker::Exit exit = worker.wait(std::chrono::seconds(30));
  EXPECT_EQ(exit.exit_code, 130) << background_log();
  EXPECT_EQ(exit.signal, 0);
  EXPECT_GE(query(kRunsOk).size(), 2u);
  EXPECT_THAT(query("SELECT count(*) FROM run WHERE status <> 'ok'"), ElementsAre("0"));

  const std::string last_line = lines_of(background_log()).back();
  const std::string command = "numabench resume ";
  const auto at = last_line.find(command);
  ASSERT_NE(at, std::string::npos) << last_line;
  const CommandResult resume =
      call({"resume", last_line.substr(at + command.size()), "--no-figures"});
  EXPECT_EQ(resume.exit_code, 0) << resume.err;
  EXPECT_THAT(query(kRunsOk), SizeIs(27));
}

TEST_F(ExperimentRun, SmokeIsNotComparedWithTheRealThing) {
  const std::string where = "ratio=2,workload=zipfian,arm=stock";
  ASSERT_EQ(call(small_run(where)).exit_code, 0);
  ASSERT_EQ(
      call({"run", "small.yaml", "--smoke", "--where", where, "--db", "smoke.db", "--no-figures"})
          .exit_code,
      0);
  for (const auto& [before, after] : {std::pair{"smoke.db", "it.db"}, {"it.db", "smoke.db"}}) {
    const CommandResult compare = call({"compare", before, after});
    EXPECT_EQ(compare.exit_code, 2);
    EXPECT_THAT(compare.err, HasSubstr("smoke"));
    EXPECT_THAT(compare.out, IsEmpty());
  }
  EXPECT_EQ(call({"compare", "it.db", "it.db"}).exit_code, 0);
}

TEST_F(ExperimentRun, WithoutDbTheResultsAreNamedAfterTheExperiment) {
  const CommandResult run =
      call({"run", "small.yaml", "--where", "ratio=2,workload=zipfian,arm=stock", "--no-figures"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(fs::exists(file("results/small.db")));
}

TEST_F(ExperimentRun, ARerunAddsAnExperimentAndReplacesNothing) {
  const std::vector<std::string> arguments = small_run("ratio=2,workload=zipfian,arm=stock");
  ASSERT_EQ(call(arguments).exit_code, 0);
  const auto first = query("SELECT run.id, started_at, duration_seconds FROM run ORDER BY id");
  ASSERT_EQ(call(arguments).exit_code, 0);
  EXPECT_THAT(query("SELECT count(*) FROM experiment"), ElementsAre("2"));
  auto all = query("SELECT run.id, started_at, duration_seconds FROM run ORDER BY id");
  ASSERT_THAT(all, SizeIs(6));
  all.resize(3);
  EXPECT_EQ(all, first);
  EXPECT_EQ(call({"compare", "it.db#1", "it.db#2"}).exit_code, 0);
}

}  // namespace
}  // namespace numabench
