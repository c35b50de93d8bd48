// Verdicts of the real embedded engine: what is planted is found, what is the same is not, runs are
// added where a verdict is open, and scripts are told by the exit code. What is planted is a count,
// the bound of every allocation: no time decides.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/e2e/driver.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// One client and no background writer: the longest allocation ends exactly one advance behind the
/// bound, 101 and 104, in every run.
std::string planted(int runs) {
  return "name: planted\n"
         "arms:\n"
         "  - {name: stock, policy: {bound: 100, background_writer: false}}\n"
         "  - {name: slower, policy: {bound: 103, background_writer: false}}\n"
         "workloads: zipfian\npools: 8MiB\nratios: 1.15\nclients: 1\naa: true\n"
         "warmup: 0.1s\nduration: 0.2s\ndrift_control: false\nruns: " +
         std::to_string(runs) + "\n";
}

class VerdictRun : public ::testing::Test {
 protected:
  void run(int runs) {
    write_file(directory_.path() + "/planted.yaml", planted(runs));
    const CommandResult result = call({"run", "planted.yaml", "--db", "it.db", "--no-figures"});
    ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  }
  CommandResult call(const std::vector<std::string>& arguments) {
    return numabench(arguments, directory_.path());
  }
  std::vector<std::string> query(const std::string& sql) {
    return numabench::query(directory_.path() + "/it.db", sql);
  }
  /// By arm, of the metric `tail` beside `baseline`.
  std::map<std::string, nlohmann::json> tails(const std::string& baseline) {
    const CommandResult result =
        call({"compare", "it.db", "--metric", "tail", "--format", "json", "--baseline", baseline});
    std::map<std::string, nlohmann::json> by_arm;
    const nlohmann::json document = nlohmann::json::parse(result.out);
    for (const nlohmann::json& row : document["tables"][0]["rows"]) {
      const nlohmann::json& value = row["values"]["tail"];
      if (value.contains("paired")) by_arm[row["arm"]] = value["paired"];
    }
    return by_arm;
  }

  TemporaryDirectory directory_;
};

TEST_F(VerdictRun, FindsThreePercentThatArePlantedAndNothingBetweenTwoCopies) {
  run(8);
  EXPECT_THAT(query("SELECT name, copy_of FROM arm ORDER BY id"),
              ElementsAre("stock|", "stock-aa|stock", "slower|"));

  const auto beside_stock = tails("stock");
  EXPECT_EQ(beside_stock.at("slower")["verdict"], "worse");
  EXPECT_NEAR(beside_stock.at("slower")["change_pct"].get<double>(), 100 * (104 / 101.0 - 1), 0.01);
  EXPECT_FALSE(beside_stock.at("stock-aa").contains("verdict"))
      << "a copy is what others are held to";
  EXPECT_EQ(beside_stock.at("stock-aa")["floor_pct"], 0);

  const auto beside_copy = tails("stock-aa");
  EXPECT_EQ(beside_copy.at("stock")["verdict"], "no difference");

  const auto threshold = [&](const std::string& percent) {
    return call({"compare", "it.db", "--metric", "tail", "--strict", "--threshold", percent});
  };
  EXPECT_EQ(threshold("1%").exit_code, 1);
  EXPECT_EQ(threshold("5%").exit_code, 0) << "worse, but not by so much";
  EXPECT_EQ(threshold("five").exit_code, 2);
  EXPECT_THAT(threshold("1%").out, AllOf(HasSubstr("worse"), HasSubstr("held to the noise floor")));
}

TEST_F(VerdictRun, AddsRunsWhereThreeCarryNoVerdict) {
  run(3);
  EXPECT_EQ(call({"compare", "it.db", "--strict"}).exit_code, 5);
  EXPECT_EQ(call({"compare", "it.db"}).exit_code, 0);

  const CommandResult more =
      call({"resume", "it.db", "--add-runs", "until=0.01%,max=6", "--no-figures"});
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_THAT(more.err, HasSubstr("1 verdict open at ±0.01 %: 9 runs more"));
  EXPECT_THAT(query("SELECT count(*) FROM run GROUP BY cell_id"), Each("6"));
  EXPECT_THAT(query("SELECT count(*), max(run_order), max(block) FROM run WHERE addition = 1"),
              ElementsAre("9|18|5"));
  EXPECT_THAT(query("SELECT count(DISTINCT seed) FROM run GROUP BY block"), Each("1"));
  EXPECT_THAT(query("SELECT count(*) FROM experiment"), ElementsAre("1"));
  EXPECT_EQ(tails("stock").at("slower")["verdict"], "worse") << "six pairs carry one";

  const CommandResult again =
      call({"resume", "it.db", "--add-runs", "until=0.01%,max=6", "--no-figures"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(query("SELECT count(*) FROM run"), ElementsAre("18")) << "no more than asked for";
  EXPECT_EQ(call({"resume", "it.db", "--add-runs", "0.5%"}).exit_code, 2);
}

TEST_F(VerdictRun, NoiseRunsTheBaselineBesideItsCopyAlone) {
  write_file(directory_.path() + "/planted.yaml", planted(3));
  const CommandResult noise = call({"noise", "planted.yaml", "--runs", "6", "--db", "it.db"});
  ASSERT_EQ(noise.exit_code, 0) << noise.err;
  EXPECT_THAT(noise.out, AllOf(HasSubstr("6 runs show"), HasSubstr("runs a cell to show it")));
  EXPECT_THAT(query("SELECT name FROM experiment"), ElementsAre("planted-noise"));
  EXPECT_THAT(query("SELECT arm, count(*) FROM run JOIN cell ON cell.id = cell_id GROUP BY arm"),
              ElementsAre("stock|6", "stock-aa|6"));
}

}  // namespace
}  // namespace numabench
