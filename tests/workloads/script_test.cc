#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hosts/error.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/temporary_directory.h"
#include "workloads/script_list.h"
#include "workloads/sql_workload.h"
#include "workloads/workload.h"

namespace numabench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr WorkloadSize kSize{.pool_pages = 1000, .ratio = 4};

class ScriptWorkloadTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    return directory_.write(name, text);
  }

  static std::unique_ptr<Workload> make(const std::string& scripts, bool writes = true) {
    return make_workload("script", {{"scripts", scripts}, {"writes", writes ? "true" : "false"}});
  }

  TemporaryDirectory directory_;
};

TEST_F(ScriptWorkloadTest, RunsTheFilesWithTheirWeights) {
  const std::string one = write("one.pgb", "SELECT 1;\n");
  const std::string two = write("t@o.pgb", "SELECT 2;\n");
  const SqlWorkload sql = make(one + "@3, " + two + "@1")->sql(kSize, 5);
  ASSERT_EQ(sql.roles.size(), 1u);
  const SqlRole& role = sql.roles[0];
  EXPECT_EQ(role.clients, 5);
  ASSERT_EQ(role.scripts.size(), 2u);
  EXPECT_EQ(role.scripts[0].name, "one.pgb");
  EXPECT_EQ(role.scripts[0].text, "SELECT 1;\n");
  EXPECT_EQ(role.scripts[0].weight, 3);
  EXPECT_EQ(role.scripts[1].name, "t@o.pgb");
  EXPECT_EQ(role.scripts[1].weight, 1);
}

TEST_F(ScriptWorkloadTest, HasWholeBranchesOfAtLeastTheSizeAskedFor) {
  // 4000 pages of 8 KiB are about 210,000 rows with their index: three branches.
  const auto workload = make(write("s.pgb", "SELECT 1;"));
  const SqlWorkload sql = workload->sql(kSize, 1);
  EXPECT_EQ(sql.tables[0].rows, 300'000u);
  EXPECT_EQ(sql.roles[0].variables.at("scale"), "3");
  EXPECT_GE(workload->dataset(kSize).pages(), kSize.working_set_pages());
  EXPECT_EQ(workload->dataset(kSize).relations()[0].pages, 4919u);  // 300,000 / 61, rounded up
}

TEST_F(ScriptWorkloadTest, KeepsWritersFromSharedData) {
  const std::string path = write("s.pgb", "SELECT 1;");
  EXPECT_TRUE(make(path)->sql(kSize, 1).writes);
  EXPECT_THAT(make(path)->sql(kSize, 1).roles[0].settings, IsEmpty());
  EXPECT_FALSE(make(path, false)->sql(kSize, 1).writes);
  EXPECT_THAT(make(path, false)->sql(kSize, 1).roles[0].settings,
              ElementsAre(Pair("default_transaction_read_only", "on")));
}

TEST_F(ScriptWorkloadTest, IsIdentifiedByTheContentsOfItsFiles) {
  const std::string path = write("s.pgb", "SELECT 1;");
  const std::string copy = write("copy.pgb", "SELECT 1;");
  const std::string before = make(path)->fingerprint();
  EXPECT_EQ(make(copy)->fingerprint(), before);
  EXPECT_NE(make(path + "@2")->fingerprint(), before);
  write("s.pgb", "SELECT 2;");
  EXPECT_NE(make(path)->fingerprint(), before);
  // Two files and one that holds both.
  const std::string a = write("a.pgb", "a");
  const std::string b = write("b.pgb", "b");
  EXPECT_NE(make(a + "," + b)->fingerprint(), make(write("ab.pgb", "ab"))->fingerprint());
}

TEST_F(ScriptWorkloadTest, NamesTheFileThatIsMissing) {
  const auto workload = make("/nowhere/s.pgb");
  const auto missing = AllOf(HasSubstr("/nowhere/s.pgb"), HasSubstr("script"));
  EXPECT_THAT(error_of([&] { workload->sql(kSize, 1); }).what(), missing);
  EXPECT_THAT(error_of([&] { workload->fingerprint(); }).what(), missing);
  EXPECT_THAT(error_of([&] { make(directory_.path())->sql(kSize, 1); }).what(),
              HasSubstr(directory_.path()));
  EXPECT_THAT(error_of([&] { make("")->sql(kSize, 1); }).what(), HasSubstr("no script"));
}

TEST_F(ScriptWorkloadTest, HasNoStreams) {
  EXPECT_FALSE(make(write("s.pgb", "SELECT 1;"))->has_streams());
}

TEST(ScriptList, ResolvesRelativePathsFromTheConfigsFolder) {
  EXPECT_EQ(resolve_script_list("a.pgb, ../b.pgb@2 , /c.pgb@3", "/configs/x"),
            "/configs/x/a.pgb@1, /configs/b.pgb@2, /c.pgb@3");
  EXPECT_EQ(resolve_script_list(" ", "/configs"), "");
}

TEST(ScriptList, RefusesWeightsThatPgbenchWouldIgnoreAndEmptyPaths) {
  for (const char* bad : {"a.pgb@", "a.pgb@0", "a.pgb@-1", "a.pgb@2x", "@2", "a.pgb,,b.pgb"}) {
    EXPECT_EQ(error_of([&] { parse_script_list(bad); }).kind(), ErrorKind::kUsage) << bad;
  }
}

}  // namespace
}  // namespace numabench
