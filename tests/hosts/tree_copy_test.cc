#include "hosts/tree_copy.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "hosts/process.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const auto kUnheard = [](std::uint64_t) {};

struct stat status_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status;
}

class CopyTree : public ::testing::Test {
 protected:
  std::string from() const { return directory_.path() + "/from"; }
  std::string to() const { return directory_.path() + "/to"; }

  const TemporaryDirectory directory_;
};

TEST_F(CopyTree, CopiesWhatDiffFindsEqual) {
  directory_.write("from/empty", "");
  directory_.write("from/base/1/1234", std::string(100'000, 'x'));
  directory_.write("from/base/2/with blank", "text");
  fs::create_directory(from() + "/pg_notify");
  copy_tree(from(), to(), kUnheard);
  const CommandResult diff = run_command({"diff", "-r", from(), to()});
  EXPECT_TRUE(diff.ok()) << diff.out << diff.err;
  EXPECT_TRUE(fs::is_directory(to() + "/pg_notify"));
}

TEST_F(CopyTree, KeepsModesTimesAndOwners) {
  const std::string file = directory_.write("from/sub/file", "text");
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  ASSERT_EQ(::chmod((from() + "/sub").c_str(), 0700), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(file.c_str(), 12, 34), 0);
  }
  const std::vector<timespec> times{{1'000'000'000, 1}, {1'100'000'000, 2}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0), 0);
  ASSERT_EQ(::utimensat(AT_FDCWD, (from() + "/sub").c_str(), times.data(), 0), 0);
  copy_tree(from(), to(), kUnheard);
  for (const std::string name : {"/sub", "/sub/file"}) {
    const struct stat before = status_of(from() + name);
    const struct stat after = status_of(to() + name);
    EXPECT_EQ(after.st_mode, before.st_mode) << name;
    EXPECT_EQ(after.st_uid, before.st_uid) << name;
    EXPECT_EQ(after.st_gid, before.st_gid) << name;
    EXPECT_EQ(after.st_mtim.tv_sec, 1'100'000'000) << name;
    EXPECT_EQ(after.st_mtim.tv_nsec, 2) << name;
  }
}

TEST_F(CopyTree, CopiesSymbolicLinksAsSuch) {
  directory_.write("from/file", "text");
  fs::create_symlink("/no/such/tablespace", from() + "/dangling");
  fs::create_directory_symlink("..", from() + "/loop");
  copy_tree(from(), to(), kUnheard);
  EXPECT_EQ(fs::read_symlink(to() + "/dangling"), "/no/such/tablespace");
  EXPECT_EQ(fs::read_symlink(to() + "/loop"), "..");
}

TEST_F(CopyTree, KeepsHoles) {
  const std::string file = directory_.write("from/sparse", "head");
  fs::resize_file(file, 50'000'000);
  std::ofstream(file, std::ios::in | std::ios::out | std::ios::ate) << "tail";
  copy_tree(from(), to(), kUnheard);
  EXPECT_TRUE(run_command({"cmp", file, to() + "/sparse"}).ok());
  EXPECT_EQ(status_of(to() + "/sparse").st_size, 50'000'004);
  EXPECT_LT(status_of(to() + "/sparse").st_blocks * 512, 1'000'000);
}

TEST_F(CopyTree, TellsTheBytesOfACopy) {
  directory_.write("from/a", std::string(100'000, 'a'));
  directory_.write("from/b", std::string(50'000, 'b'));
  std::vector<std::uint64_t> heard;
  const TreeCopyMethod method =
      copy_tree(from(), to(), [&](std::uint64_t bytes) { heard.push_back(bytes); });
  if (method == TreeCopyMethod::kReflink) GTEST_SKIP() << "nothing was copied";
  ASSERT_FALSE(heard.empty());
  EXPECT_TRUE(std::is_sorted(heard.begin(), heard.end()));
  EXPECT_EQ(heard.back(), 150'000u);
}

// cp is asked whether this filesystem can share blocks.
TEST_F(CopyTree, SharesBlocksExactlyWhereCpCan) {
  const std::string file = directory_.write("from/a", std::string(100'000, 'a'));
  const bool can = run_command({"cp", "--reflink=always", file, directory_.path() + "/x"}).ok();
  EXPECT_EQ(copy_tree(from(), to(), kUnheard),
            can ? TreeCopyMethod::kReflink : TreeCopyMethod::kBytes);
}

TEST_F(CopyTree, LeavesNothingWhenItIsInterrupted) {
  directory_.write("from/a", std::string(100'000, 'a'));
  if (copy_tree(from(), to(), kUnheard) == TreeCopyMethod::kReflink) {
    GTEST_SKIP() << "a reflink tells of no bytes";
  }
  remove_tree(to());
  const Error error = error_of([&] {
    copy_tree(from(), to(), [](std::uint64_t) { throw Error(ErrorKind::kInterrupted, "enough"); });
  });
  EXPECT_EQ(error.kind(), ErrorKind::kInterrupted);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_.path()), {}), 1) << "only `from`";
}

TEST_F(CopyTree, ReplacesThePartialCopyOfAKilledProcess) {
  directory_.write("from/a", "new");
  directory_.write("to.partial/old", "old");
  copy_tree(from(), to(), kUnheard);
  EXPECT_TRUE(run_command({"diff", "-r", from(), to()}).ok());
  EXPECT_FALSE(fs::exists(to() + ".partial"));
}

TEST_F(CopyTree, RefusesToOverwrite) {
  directory_.write("from/a", "new");
  directory_.write("to/a", "old");
  const Error error = error_of([&] { copy_tree(from(), to(), kUnheard); });
  EXPECT_EQ(error.kind(), ErrorKind::kRun);
  EXPECT_THAT(error.what(), HasSubstr("there already"));
}

TEST_F(CopyTree, RefusesTheSocketOfARunningServer) {
  directory_.write("from/a", "text");
  ASSERT_EQ(::mkfifo((from() + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { copy_tree(from(), to(), kUnheard); }).kind(), ErrorKind::kRun);
  EXPECT_FALSE(fs::exists(to()));
}

TEST_F(CopyTree, SaysThatThereIsNothingToCopy) {
  EXPECT_EQ(error_of([&] { copy_tree(from(), to(), kUnheard); }).kind(), ErrorKind::kRun);
}

TEST(TreeBytes, CountsRegularFilesAsFindDoes) {
  const TemporaryDirectory directory;
  directory.write("a/b/c", "12345");
  directory.write("a/d", "123");
  fs::create_symlink("d", directory.path() + "/a/link");
  EXPECT_EQ(tree_bytes(directory.path()), 8u);
  EXPECT_EQ(tree_bytes(directory.path() + "/nothing"), 0u);
}

TEST(RemoveTree, DoesNotFollowLinks) {
  const TemporaryDirectory directory;
  directory.write("kept/file", "text");
  directory.write("removed/file", "text");
  fs::create_directory_symlink("../kept", directory.path() + "/removed/link");
  remove_tree(directory.path() + "/removed");
  EXPECT_FALSE(fs::exists(directory.path() + "/removed"));
  EXPECT_TRUE(fs::exists(directory.path() + "/kept/file"));
  remove_tree(directory.path() + "/removed");  // nothing when it is not there
}

}  // namespace
}  // namespace numabench
