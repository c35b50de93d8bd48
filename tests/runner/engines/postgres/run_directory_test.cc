#include "runner/engines/postgres/run_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hosts/process.h"
#include "runner/engines/postgres/data_root.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

/// Of a process that has ended.
pid_t dead_pid() {
  Worker worker = Worker::fork(Placement{}, [] { return 0; });
  const pid_t pid = worker.pid();
  worker.wait(std::chrono::seconds(10));
  return pid;
}

TEST(RunDirectory, IsPrivateToTheUserAndGoesWithAllInIt) {
  const TemporaryDirectory root;
  const User user = server_user("");
  std::string path;
  {
    const RunDirectory directory(root.path() + "/runs", "", user);
    path = directory.path();
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777u, 0700u);
    EXPECT_EQ(status.st_uid, user.uid);
    make_directory_for(path + "/clients", user);
    std::ofstream(path + "/clients/log") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(RunDirectory, RemovesWhatAKilledProcessLeft) {
  const TemporaryDirectory runs;
  const std::string dead = std::to_string(dead_pid());
  const fs::path abandoned = fs::path(runs.path()) / ("own-" + dead + "-abcdef");
  const fs::path alive = fs::path(runs.path()) / ("own-" + std::to_string(getpid()) + "-abcdef");
  const fs::path of_another_prefix = fs::path(runs.path()) / (dead + "-abcdef");
  const fs::path notes = fs::path(runs.path()) / "notes";
  for (const fs::path& path : {abandoned, alive, of_another_prefix, notes}) {
    fs::create_directories(path);
  }
  const RunDirectory directory(runs.path(), "own-", server_user(""));
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(alive));
  EXPECT_TRUE(fs::exists(of_another_prefix));
  EXPECT_TRUE(fs::exists(notes));
}

TEST(RunDirectory, LeavesTheFoldersOfOthersAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root: gives a folder to somebody else";
  const TemporaryDirectory runs;
  const std::string dead = std::to_string(dead_pid());
  const User user = server_user("");
  const fs::path of_user = fs::path(runs.path()) / (dead + "-abcdef");
  const fs::path of_other = fs::path(runs.path()) / (dead + "-ghijkl");
  fs::create_directory(of_user);
  fs::create_directory(of_other);
  ASSERT_EQ(chown(of_user.c_str(), user.uid, user.gid), 0);
  ASSERT_EQ(chown(of_other.c_str(), user.uid + 1, user.gid), 0);
  const RunDirectory directory(runs.path(), "", user);
  EXPECT_FALSE(fs::exists(of_user));
  EXPECT_TRUE(fs::exists(of_other));
}

TEST(DirectoryInMemory, IsOnATmpfsOrTheOtherOne) {
  constexpr std::uint64_t kMoreThanAnyHostHas = std::uint64_t{1} << 60;
  EXPECT_EQ(directory_in_memory(kMoreThanAnyHostHas, "/other"), "/other");
  const std::string found = directory_in_memory(4096, "/other");
  const std::string type = run_command({"stat", "--file-system", "--format=%T", "/dev/shm"}).out;
  EXPECT_EQ(found, type == "tmpfs\n" && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/other");
}

TEST(DataRoot, IsMadeAndMayBeEnteredByTheServer) {
  const TemporaryDirectory parent;
  fs::permissions(parent.path(), fs::perms(0755));
  const std::string root = parent.path() + "/a/b";
  prepare_data_root(root, server_user(""));
  EXPECT_TRUE(fs::is_directory(root));
  prepare_data_root(root, server_user(""));
}

TEST(DataRoot, NamesTheFolderThatIsInTheWayOfTheServersUser) {
  const User user = server_user("");
  if (user.uid == geteuid()) GTEST_SKIP() << "needs root: the servers' user is another one";
  const TemporaryDirectory parent;
  fs::permissions(parent.path(), fs::perms(0700));
  const std::string error =
      error_of([&] { prepare_data_root(parent.path() + "/data", user); }).what();
  EXPECT_NE(error.find("user '" + user.name + "'"), std::string::npos) << error;
  EXPECT_NE(error.find("cannot enter " + parent.path()), std::string::npos) << error;
}

TEST(DataRoot, RefusesAFolderThatAllCanWrite) {
  const TemporaryDirectory parent;
  fs::permissions(parent.path(), fs::perms(0755));
  const std::string root = parent.path() + "/shared";
  fs::create_directory(root);
  fs::permissions(root, fs::perms(0777));
  const std::string error = error_of([&] { prepare_data_root(root, server_user("")); }).what();
  EXPECT_NE(error.find("writable for all"), std::string::npos) << error;
}

}  // namespace
}  // namespace numabench
