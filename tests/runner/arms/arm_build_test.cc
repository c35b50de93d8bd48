// What becomes of an arm: built, reused, built again, refused. On a tree that builds in a second.
#include "runner/arms/arm_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "hosts/error.h"
#include "runner/arms/file_lock.h"
#include "tests/runner/arms/fake_tree.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using arms_test::FakeTree;
using arms_test::output_of;
using arms_test::read;
using arms_test::write;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string folder_of(const ArmBuild& build) { return fs::path(build.log_path).parent_path(); }

TEST(ArmBuild, BuildsACommitAndRecordsWhatItIs) {
  const FakeTree fake;
  const ArmBuild build = fake.build(fake.arm());
  ASSERT_THAT(build.failure, IsEmpty());
  const std::string head = fake.git({"rev-parse", "HEAD"}).substr(0, 40);
  EXPECT_EQ(build.inputs.source, "git " + fake.tree() + " " + head);
  EXPECT_EQ(build.version, "PostgreSQL 15.42");
  EXPECT_EQ(build.version_num, 150042);
  EXPECT_THAT(output_of({"readelf", "--notes", build.postgres}),
              HasSubstr("Build ID: " + build.build_id));
  EXPECT_THAT(build.compiler, HasSubstr("gcc"));
  EXPECT_THAT(build.configuration, HasSubstr("CFLAGS=-O2 -g"));
  EXPECT_FALSE(build.reused);
  EXPECT_THAT(read(build.log_path), HasSubstr("== compiling src/backend: make"));
}

TEST(ArmBuild, WhatIsBuiltIsReused) {
  const FakeTree fake;
  EXPECT_FALSE(fake.builder().inputs(fake.arm()).built);
  const ArmBuild first = fake.build(fake.arm());
  EXPECT_TRUE(fake.builder().inputs(fake.arm()).built);
  Arm other = fake.arm();
  other.name = "other";  // a name is no input
  const ArmBuild second = fake.build(other);
  EXPECT_TRUE(second.reused);
  EXPECT_EQ(second.arm, "other");
  EXPECT_EQ(second.build_seconds, 0);
  EXPECT_EQ(second.postgres, first.postgres);
  EXPECT_EQ(second.build_id, first.build_id);
}

TEST(ArmBuild, AServerThatIsNoLongerTheOneBuiltIsBuiltAgain) {
  const FakeTree fake;
  const ArmBuild first = fake.build(fake.arm());
  fs::copy_file("/bin/true", first.postgres, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(fake.builder().inputs(fake.arm()).built);
  const ArmBuild second = fake.build(fake.arm());
  EXPECT_FALSE(second.reused);
  EXPECT_EQ(second.version, "PostgreSQL 15.42");
}

TEST(ArmBuild, AnInterruptedBuildIsMadeAgain) {
  const FakeTree fake;
  const auto interrupt = [](const std::string& /*arm*/, const std::string& stage) {
    if (stage.starts_with("installing")) throw Error(ErrorKind::kInterrupted, "interrupted");
  };
  EXPECT_THROW(fake.builder().build(fake.arm(), interrupt), Error);
  const ArmInputs inputs = fake.builder().inputs(fake.arm());
  EXPECT_FALSE(inputs.built);
  EXPECT_TRUE(fs::exists(fake.root() + "/arms/" + inputs.key.substr(0, 16)));
  const ArmBuild build = fake.build(fake.arm());
  EXPECT_THAT(build.failure, IsEmpty());
  EXPECT_FALSE(build.reused);
}

TEST(ArmBuild, TheKeyIsThatOfTheInputs) {
  const FakeTree fake;
  const std::string patch = fake.patch("a.patch", "return 42", "return 43");
  const std::string key = fake.builder().inputs(fake.arm({patch})).key;
  fs::copy_file(patch, fake.file("b.patch"));
  EXPECT_EQ(fake.builder().inputs(fake.arm({fake.file("b.patch")})).key, key);
  EXPECT_NE(fake.builder().inputs(fake.arm()).key, key);
  BuildOptions optimised;
  optimised.cflags = "-O3 -g";
  EXPECT_NE(fake.builder(optimised).inputs(fake.arm({patch})).key, key);
  BuildOptions more;
  more.options = {"--enable-dtrace"};
  EXPECT_NE(fake.builder(more).inputs(fake.arm({patch})).key, key);
  write(patch, read(patch) + "\n");
  EXPECT_NE(fake.builder().inputs(fake.arm({patch})).key, key);
}

TEST(ArmBuild, ABranchOfALocalRepositoryIsFollowedAndACommitIsNot) {
  const FakeTree fake;
  Arm pinned = fake.arm();
  pinned.source.commit = fake.git({"rev-parse", "HEAD"}).substr(0, 40);
  EXPECT_EQ(fake.builder().inputs(fake.arm()).key, fake.builder().inputs(pinned).key);
  fake.edit("return 42", "return 44");
  fake.commit("Go on");
  EXPECT_NE(fake.builder().inputs(fake.arm()).key, fake.builder().inputs(pinned).key);
  EXPECT_EQ(fake.build(fake.arm()).version, "PostgreSQL 15.44");
  EXPECT_EQ(fake.build(pinned).version, "PostgreSQL 15.42");
}

TEST(ArmBuild, RootBuildsFromTheRepositoryOfAUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a repository away";
  const FakeTree fake;
  output_of({"chown", "--recursive", "nobody", fake.tree()});
  EXPECT_THAT(fake.build(fake.arm()).failure, IsEmpty());
}

TEST(ArmBuild, AppliesPatchesInTheirOrderAndOnlySoManyAsASeriesAsksFor) {
  const FakeTree fake;
  const std::string first = fake.patch("v1-0001-a.patch", "return 42", "return 43");
  fake.edit("return 42", "return 43");
  fake.commit("As after the first");
  const std::string second = fake.patch("v1-0002-b.patch", "return 43", "return 44");
  fake.git({"reset", "--quiet", "--hard", "HEAD~1"});
  Arm arm = fake.arm({first, second});
  const ArmBuild both = fake.build(arm);
  EXPECT_EQ(both.version, "PostgreSQL 15.44");
  EXPECT_EQ(both.inputs.patches.size(), 2u);
  arm.patch_limit = 1;
  const ArmBuild prefix = fake.build(arm);
  EXPECT_EQ(prefix.version, "PostgreSQL 15.43");
  EXPECT_EQ(prefix.inputs.patches.size(), 1u);
  EXPECT_NE(prefix.build_id, both.build_id);
  EXPECT_THAT(flag_differences({prefix, both}), IsEmpty());
}

TEST(ArmBuild, MergesAPatchOfAnOlderTree) {
  const FakeTree fake;
  const std::string patch = fake.patch("a.patch", "return 42", "return 43");
  fake.edit("\nint sweep", "\nstatic int unused;\n\nint sweep");  // inside the patch's context
  fake.commit("Go on");
  const ArmBuild build = fake.build(fake.arm({patch}));
  EXPECT_THAT(build.failure, IsEmpty());
  EXPECT_EQ(build.version, "PostgreSQL 15.43");
}

TEST(ArmBuild, NamesThePatchTheFileAndTheHunkThatDoNotApply) {
  const FakeTree fake;
  fake.edit("return 1", "return 5");
  fake.edit("return 2", "return 6");
  const std::string diff = fake.file("two.diff");
  write(diff, fake.git({"diff"}));
  fake.git({"checkout", "--quiet", "--", "."});
  fake.edit("return 2", "return 7");
  fake.commit("In the way");
  const ArmBuild build = fake.build(fake.arm({diff}));
  EXPECT_THAT(build.failure,
              AllOf(HasSubstr("patch two.diff does not apply"),
                    HasSubstr("src/backend/storage/buffer/freelist.c, hunk 2 (line 9)"),
                    HasSubstr("rebase"), HasSubstr(build.log_path)));
  // The same as a mail.
  const std::string mail = fake.file("two.patch");
  write(mail, "From: T <t@example.org>\nSubject: [PATCH] Two\n\n" + read(diff));
  EXPECT_THAT(fake.build(fake.arm({mail})).failure,
              AllOf(HasSubstr("patch two.patch does not apply"), HasSubstr("hunk 2 (line 9)")));
  EXPECT_EQ(fake.build(fake.arm()).version, "PostgreSQL 15.42");
}

TEST(ArmBuild, ACompilersErrorIsTheFailure) {
  const FakeTree fake;
  const std::string patch = fake.patch("broken.patch", "return 42;", "return forty_two;");
  const ArmBuild build = fake.build(fake.arm({patch}));
  EXPECT_THAT(build.failure,
              AllOf(HasSubstr("compiling src/backend failed"), HasSubstr("freelist.c"),
                    HasSubstr("forty_two"), HasSubstr(build.log_path)));
  EXPECT_FALSE(fake.builder().inputs(fake.arm({patch})).built);
}

TEST(ArmBuild, AReleaseArchiveTakesPatchesOfARepository) {
  const FakeTree fake;
  const std::string patch = fake.patch("a.patch", "return 42", "return 43");
  output_of({"git", "-C", fake.tree(), "archive", "--prefix=postgresql-15.42/", "--output",
             fake.file("release.tar.gz"), "HEAD"});
  Arm arm = fake.arm({patch});
  arm.source = {ArmSource::Kind::kTarball, fake.file("release.tar.gz"), ""};
  const ArmBuild build = fake.build(arm);
  EXPECT_THAT(build.failure, IsEmpty());
  EXPECT_EQ(build.version, "PostgreSQL 15.43");
  EXPECT_EQ(build.inputs.source,
            "tarball " + output_of({"sha256sum", fake.file("release.tar.gz")}).substr(0, 64));
}

TEST(ArmBuild, ATreeWithoutACountableSweepSaysWhyAndStaysAsItWas) {
  const FakeTree fake;
  const ArmBuild build = fake.build(fake.arm());
  EXPECT_THAT(build.counted_postgres, IsEmpty());
  EXPECT_THAT(build.counted_reason, HasSubstr("postgres.h"));
  EXPECT_EQ(read(folder_of(build) + "/src/src/backend/storage/buffer/freelist.c"),
            read(fake.freelist()));
  EXPECT_FALSE(fs::exists(folder_of(build) + "/src/src/backend/storage/buffer/freelist_arm.c"));
}

TEST(ArmBuild, SourcesThatCannotBeFoundFailTheArm) {
  const FakeTree fake;
  Arm arm = fake.arm();
  arm.source.commit = "no-such-branch";
  EXPECT_THAT(fake.build(arm).failure, AllOf(HasSubstr("no-such-branch"), HasSubstr(fake.tree())));
  try {
    fake.builder().inputs(arm);
    FAIL() << "found a branch that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  }
}

TEST(ArmBuild, AnInstalledServerTakesNoPatches) {
  const FakeTree fake;
  Arm arm = fake.arm({fake.patch("a.patch", "return 42", "return 43")});
  arm.source = {ArmSource::Kind::kBindir, "/usr/lib/postgresql/15/bin", ""};
  EXPECT_THAT(fake.build(arm).failure, HasSubstr("installed"));
}

TEST(ArmBuild, TheRecordReadsBack) {
  ArmBuild build;
  build.arm = "stock";
  build.inputs.key = "0123";
  build.inputs.patches = {{"a.patch", "4567"}, {"\xff.patch", "89"}};  // not UTF-8
  build.counted_reason = "because";
  build.version_num = 150018;
  build.libnuma = true;
  build.build_seconds = 12.5;
  build.ccache_hits = 7;
  const ArmBuild again = arm_build_from_json(to_json(build));
  EXPECT_EQ(again.arm, "stock");
  EXPECT_EQ(again.inputs.key, "0123");
  ASSERT_EQ(again.inputs.patches.size(), 2u);
  EXPECT_EQ(again.inputs.patches[0].sha256, "4567");
  EXPECT_EQ(again.counted_reason, "because");
  EXPECT_EQ(again.version_num, 150018);
  EXPECT_TRUE(again.libnuma);
  EXPECT_EQ(again.build_seconds, 12.5);
  EXPECT_EQ(again.ccache_hits, 7);
  EXPECT_EQ(again.ccache_misses, -1);
  EXPECT_THROW(arm_build_from_json("{}"), Error);
}

TEST(FlagDifferences, NamesBothArmsAndWhatDiffers) {
  ArmBuild stock;
  stock.arm = "stock";
  stock.cflags = "-O2";
  ArmBuild other = stock;
  other.arm = "other";
  other.cflags = "-O3";
  other.libnuma = true;
  ArmBuild failed = stock;
  failed.arm = "failed";
  failed.failure = "x";
  failed.compiler = "clang";
  EXPECT_THAT(
      flag_differences({failed, stock, other}),
      testing::ElementsAre(
          AllOf(HasSubstr("'stock'"), HasSubstr("'other'"), HasSubstr("only 'other' has -O3")),
          AllOf(HasSubstr("arm 'other' is built with libnuma"), HasSubstr("'stock'"))));
}

TEST(FileLock, ASecondProcessWaits) {
  const FakeTree fake;
  const std::string path = fake.file("lock");
  const auto lock_in_child = [&] {
    return Worker::fork(Placement(),
                        [&] {
                          const FileLock lock(path,
                                              [] { throw Error(ErrorKind::kRun, "waiting"); });
                          return 0;
                        })
        .wait(std::chrono::minutes(1));
  };
  {
    const FileLock held(path, [] {});
    EXPECT_FALSE(lock_in_child().ok());
  }
  EXPECT_TRUE(lock_in_child().ok());
}

}  // namespace
}  // namespace numabench
