// Debian's postgresql-15 built for real, with and without a patch. Minutes of compiling the first
// time; the builds are kept in $NUMABENCH_TEST_ARMS, where the tests of the engine find them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "hosts/process.h"
#include "runner/arms/arm_build.h"
#include "tests/paths.h"
#include "tests/runner/arms/debian_arm.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string kPatch =
    source_dir() + "/tests/e2e/data/slow-series/0002-Sleep-in-ReadBuffer.patch";

ArmBuild build(const Arm& arm) {
  const ArmBuilder builder(kept_arms_directory(), BuildOptions());
  const ArmBuild built = builder.build(arm, [](const std::string&, const std::string&) {});
  std::printf("arm %s: %.0f s, %s, ccache %d hits, %d misses, counted by %s\n", arm.name.c_str(),
              built.build_seconds, built.reused ? "reused" : "built", built.ccache_hits,
              built.ccache_misses, built.counted_method.c_str());
  EXPECT_THAT(built.failure, IsEmpty());
  return built;
}

std::string output_of(const std::vector<std::string>& command) {
  const CommandResult result = run_command(command);
  EXPECT_TRUE(result.ok()) << command[0] << ": " << result.err;
  return result.out;
}

TEST(PostgresBuild, TwoArmsOfDebiansSourceDifferInThePatchAlone) {
  Arm slow = debian_arm("slow");
  slow.patches = {kPatch};
  const ArmBuild stock = build(debian_arm("stock"));
  const ArmBuild patched = build(slow);

  EXPECT_THAT(flag_differences({stock, patched}), IsEmpty());
  EXPECT_NE(stock.build_id, patched.build_id);
  EXPECT_NE(stock.inputs.key, patched.inputs.key);
  EXPECT_THAT(stock.inputs.source, StartsWith("debian postgresql-15 15."));
  EXPECT_THAT(patched.inputs.patches, testing::SizeIs(1));
  for (const ArmBuild& arm : {stock, patched}) {
    EXPECT_THAT(arm.version_num, testing::AllOf(testing::Ge(150000), testing::Lt(160000)));
    EXPECT_THAT(arm.cflags, HasSubstr("-O2 -g"));
    EXPECT_THAT(output_of({"readelf", "--notes", arm.postgres}), HasSubstr(arm.build_id));
    for (const char* program : {"postgres", "initdb", "pgbench", "pg_controldata", "psql"}) {
      EXPECT_TRUE(fs::exists(arm.bindir + "/" + program)) << program;
    }
  }
}

TEST(PostgresBuild, TheCountedServerCallsTheArmsOwnSweep) {
  const ArmBuild stock = build(debian_arm("stock"));
  EXPECT_THAT(stock.counted_method, "ClockSweepTick");
  EXPECT_THAT(stock.counted_reason, IsEmpty());
  EXPECT_NE(stock.build_id, stock.counted_build_id);
  EXPECT_THAT(output_of({"nm", stock.counted_postgres}),
              HasSubstr("numabench_arm_StrategyGetBuffer"));
  EXPECT_THAT(output_of({"nm", stock.postgres}), Not(HasSubstr("numabench")));
  // The tree is the arm's again.
  const std::string tree = fs::path(stock.log_path).parent_path() / "src";
  EXPECT_THAT(output_of({"git", "-C", tree, "-c", "safe.directory=*", "status", "--porcelain",
                         "--untracked-files=all", "src/backend/storage"}),
              IsEmpty());
}

TEST(PostgresBuild, TheClockFunctionFitsBuiltAndInstalledServers) {
  Arm installed;
  installed.name = "installed";
  installed.source = {ArmSource::Kind::kBindir, "/usr/lib/postgresql/15/bin", ""};
  for (const ArmBuild& arm : {build(debian_arm("stock")), build(installed)}) {
    EXPECT_THAT(arm.clock_reason, IsEmpty());
    EXPECT_THAT(output_of({"nm", "--dynamic", arm.clock_directory + "/numabench_clock.so"}),
                HasSubstr("U StrategySyncStart"));
  }
}

TEST(PostgresBuild, AnInstalledServerSaysHowItDiffers) {
  Arm installed;
  installed.name = "installed";
  installed.source = {ArmSource::Kind::kBindir, "/usr/lib/postgresql/15/bin", ""};
  const ArmBuild built = build(installed);
  EXPECT_THAT(built.counted_postgres, IsEmpty());
  EXPECT_THAT(built.counted_reason, HasSubstr("installed"));
  EXPECT_THAT(built.version, StartsWith("PostgreSQL 15."));
  EXPECT_THAT(built.compiler, StartsWith("gcc"));
  EXPECT_THAT(flag_differences({build(debian_arm("stock")), built}),
              testing::Contains(AnyOf(HasSubstr("configuration"), HasSubstr("compiler flags"))));
}

}  // namespace
}  // namespace numabench
