// The command line as a person meets it: help, mistakes, plain and coloured output, plans.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/e2e/driver.h"
#include "tests/paths.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kSmall = "small.yaml";

class CommandLine : public ::testing::Test {
 protected:
  void SetUp() override { write_small_experiment(directory_.path()); }

  std::string file(const std::string& name) const { return directory_.path() + "/" + name; }
  CommandResult call(const std::vector<std::string>& arguments) {
    return numabench(arguments, directory_.path());
  }
  // The one line that an error is.
  std::string error_of(const std::vector<std::string>& arguments, int exit_code) {
    const CommandResult result = call(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err << result.out;
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(lines_of(result.err), SizeIs(1)) << result.err;
    EXPECT_THAT(result.err, StartsWith("numabench: "));
    return result.err;
  }

  TemporaryDirectory directory_;
};

TEST_F(CommandLine, EveryCommandHelpsWithAnExample) {
  const std::vector<std::vector<std::string>> commands = {
      {},         {"topology"}, {"plan"},   {"run"},    {"resume"},        {"status"},
      {"report"}, {"compare"},  {"export"}, {"config"}, {"config", "show"}};
  for (std::vector<std::string> command : commands) {
    std::string words = "numabench";
    for (const std::string& word : command) words += " " + word;
    command.push_back("--help");
    const CommandResult help = call(command);
    EXPECT_EQ(help.exit_code, 0) << words;
    EXPECT_THAT(help.out, HasSubstr("Example: " + words)) << words;
  }
}

TEST_F(CommandLine, AMistakeIsOneLineAndExitCode2) {
  error_of({}, 2);
  error_of({"rnu"}, 2);
  EXPECT_THAT(error_of({"run", kSmall, "--sed", "3"}, 2), HasSubstr("--sed"));
  EXPECT_THAT(error_of({"run"}, 2), HasSubstr("config"));
  EXPECT_THAT(error_of({"plan", kSmall, "--runs", "many"}, 2), HasSubstr("many"));
  EXPECT_THAT(error_of({"plan", kSmall, "--where", "rato=2"}, 2), HasSubstr("ratio"));
  EXPECT_THAT(error_of({"plan", kSmall, "-n", "("}, 2), HasSubstr("("));
  EXPECT_THAT(error_of({"plan", "no-such.yaml"}, 2), HasSubstr("no-such.yaml"));
}

TEST_F(CommandLine, AMissingResultsFileIsAnErrorAndIsNotMade) {
  for (const char* command : {"resume", "status", "report", "compare", "export"}) {
    EXPECT_THAT(error_of({command, "absent.db"}, 2), HasSubstr("absent.db")) << command;
  }
  EXPECT_FALSE(std::filesystem::exists(file("absent.db")));
}

TEST_F(CommandLine, AFileThatIsNoResultsStoreIsRefusedAndLeftAlone) {
  write_file(file("letter.db"), "Dear reviewers\n");
  error_of({"status", "letter.db"}, 2);
  error_of({"run", kSmall, "--db", "letter.db", "--smoke", "--no-figures"}, 2);
  EXPECT_EQ(read_file(file("letter.db")), "Dear reviewers\n");
}

TEST_F(CommandLine, TopologyOfASyntheticHost) {
  const CommandResult result = call({"topology", "--synthetic", "pack:2 node:1 core:4 pu:2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("2 packages"), HasSubstr("2 nodes"), HasSubstr("16 CPUs")));
}

TEST_F(CommandLine, TopologyOfThisHostCountsTheKernelsCpus) {
  const CommandResult result = call({"topology"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " CPUs"));
}

TEST_F(CommandLine, PlanIsStableAndFollowsTheSelectors) {
  const CommandResult plan = call({"plan", kSmall, "--seed", "7"});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_EQ(call({"plan", kSmall, "--seed", "7"}).out, plan.out);
  EXPECT_THAT(plan.out, HasSubstr("27 cells, 81 runs"));
  EXPECT_THAT(call({"plan", kSmall, "--where", "arm=stock,ratio>=2"}).out,
              HasSubstr("6 cells, 18 runs"));
  EXPECT_THAT(call({"plan", kSmall, "-n", "^(stock|full-series) zipfian", "--runs", "5"}).out,
              HasSubstr("6 cells, 30 runs"));
  EXPECT_FALSE(std::filesystem::exists(file("results"))) << "a plan makes nothing";
}

TEST_F(CommandLine, EveryShippedExperimentCanBePlanned) {
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() + "/configs")) {
    if (entry.path().extension() != ".yaml") continue;
    const CommandResult plan = call({"plan", entry.path()});
    EXPECT_EQ(plan.exit_code, 0) << plan.err;
    EXPECT_THAT(plan.out, HasSubstr(" cells, "));
  }
}

TEST_F(CommandLine, ASelectionOfNothingIsAnError) {
  error_of({"plan", kSmall, "--where", "ratio=77"}, 2);
}

TEST_F(CommandLine, AnArmsSettingChangesTheHashesOfItsCellsOnly) {
  const auto hashes = [&](const std::vector<std::string>& extra, const std::string& arm) {
    std::vector<std::string> arguments = {"plan", kSmall, "-n", "^" + arm + " "};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    std::vector<std::string> found;
    for (const std::string& line : lines_of(call(arguments).out)) {
      if (line.find(" " + arm + " ") != std::string::npos) found.push_back(line.substr(0, 8));
    }
    EXPECT_THAT(found, SizeIs(9)) << arm;
    return found;
  };
  const std::vector<std::string> bound = {"--set", "arms.full-series.policy.bound=32"};
  EXPECT_EQ(hashes({}, "stock"), hashes(bound, "stock"));
  EXPECT_NE(hashes({}, "full-series"), hashes(bound, "full-series"));
}

TEST_F(CommandLine, ConfigShowSaysWhereEachValueComesFrom) {
  const CommandResult shown = call({"config", "show", kSmall, "--runs", "5"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("--runs"), HasSubstr("small.yaml:"), HasSubstr("default"),
                               HasSubstr("full-series.yaml:")));
}

TEST_F(CommandLine, ColourOnATerminalUnlessNoColorIsSet) {
  ASSERT_EQ(call({"run", kSmall, "--runs", "1", "--where", "ratio=2,workload=zipfian", "--db",
                  "it.db", "--no-figures"})
                .exit_code,
            0);
  const std::vector<std::string> report = {"report", "it.db"};
  EXPECT_THAT(numabench_on_terminal(report, directory_.path()).out, HasSubstr("\033["));
  EXPECT_THAT(numabench_on_terminal(report, directory_.path(), "1").out, Not(HasSubstr("\033")));
  EXPECT_THAT(call(report).out, Not(HasSubstr("\033")));
}

// One mistake each in a config that is right without it.
class ConfigError : public CommandLine {
 protected:
  void SetUp() override { expect_exit(kRight, 0); }

  CommandResult expect_exit(const std::string& config, int exit_code) {
    write_file(file("it.yaml"), config);
    const CommandResult result = call({"plan", "it.yaml"});
    EXPECT_EQ(result.exit_code, exit_code) << result.err << config;
    return result;
  }

  // Replaces `right` by `wrong` and expects the error at the first byte of `at`.
  std::string error_after(const std::string& right, const std::string& wrong,
                          const std::string& at) {
    std::string config = kRight;
    config.replace(config.find(right), right.size(), wrong);
    const std::string error = expect_exit(config, 2).err;
    const auto offset = config.rfind(at);
    const auto line_start = config.rfind('\n', offset) + 1;
    const auto line =
        1 + std::count(config.begin(), config.begin() + static_cast<long>(offset), '\n');
    EXPECT_THAT(error, StartsWith("numabench: it.yaml:" + std::to_string(line) + ":" +
                                  std::to_string(offset - line_start + 1) + ": "));
    EXPECT_THAT(error, HasSubstr("; ")) << "the remedy is missing";
    EXPECT_THAT(lines_of(error), SizeIs(1));
    return error;
  }

  static constexpr const char* kRight = R"(name: it
arms:
  - name: stock
  - name: bounded
    extends: stock
    policy: {bound: 16}
workloads: [zipfian]
pools: [8MiB, 16MiB]
ratios: [2, 4]
clients: 4
zip:
  - [pools, ratios]
runs: 3
)";
};

TEST_F(ConfigError, UnknownKeyWithASuggestion) {
  EXPECT_THAT(error_after("clients: 4", "cleints: 4", "cleints"), HasSubstr("'clients'"));
}

TEST_F(ConfigError, DuplicateKey) {
  EXPECT_THAT(error_after("runs: 3", "runs: 3\nseed: 1\nruns: 5", "runs: 5"), HasSubstr("runs"));
}

TEST_F(ConfigError, WrongType) { error_after("runs: 3", "runs: often", "often"); }

TEST_F(ConfigError, UnequalZip) {
  EXPECT_THAT(error_after("[2, 4]", "[2, 3, 4]", "[pools, ratios]"), HasSubstr("3"));
}

TEST_F(ConfigError, EmptyList) { error_after("[2, 4]", "[]", "[]"); }

TEST_F(ConfigError, ArmThatIsNotDefined) {
  EXPECT_THAT(error_after("extends: stock", "extends: stokc", "stokc"), HasSubstr("'stock'"));
}

TEST_F(ConfigError, SwitchOfAnArmThatDoesNotExist) {
  EXPECT_THAT(error_after("{bound: 16}", "{buond: 16}", "buond"), HasSubstr("'bound'"));
}

}  // namespace
}  // namespace numabench
