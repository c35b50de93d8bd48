#include "hosts/user.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "hosts/process.h"
#include "tests/hosts/error_of.h"

namespace numabench {
namespace {

using ::testing::HasSubstr;

std::string id_says(const std::string& option, const std::string& name) {
  std::string text = run_command({"id", option, name}).out;
  if (!text.empty()) text.pop_back();
  return text;
}

TEST(Users, AreFoundAsIdFindsThem) {
  for (const std::string name : {"root", "nobody", "postgres"}) {
    const auto user = find_user(name);
    ASSERT_TRUE(user) << name;
    EXPECT_EQ(user->name, name);
    EXPECT_EQ(std::to_string(user->uid), id_says("-u", name));
    EXPECT_EQ(std::to_string(user->gid), id_says("-g", name));
  }
  EXPECT_EQ(find_user("no-such-user"), std::nullopt);
}

TEST(Users, TheCurrentOneIsThatOfTheProcess) {
  EXPECT_EQ(current_user().uid, ::geteuid());
  EXPECT_EQ(current_user(), find_user(current_user().name));
}

class AsRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
  }
};

TEST_F(AsRoot, TheServerUserIsTheOneWanted) {
  EXPECT_EQ(server_user("nobody"), find_user("nobody"));
}

TEST_F(AsRoot, TheServerUserIsPostgresWhereThatExists) {
  EXPECT_EQ(server_user(""), find_user("postgres"));
}

TEST_F(AsRoot, RefusesRootAndStrangers) {
  const Error root = error_of([] { server_user("root"); });
  EXPECT_EQ(root.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(root.what(), HasSubstr("'root' is root"));
  const Error stranger = error_of([] { server_user("no-such-user"); });
  EXPECT_EQ(stranger.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(stranger.what(), HasSubstr("no user 'no-such-user'"));
}

// In a worker that has become `name`: 0 if `check` holds.
int exit_of_worker_as(const std::string& name, const std::function<bool()>& check) {
  const User user = *find_user(name);
  Worker worker = Worker::fork({}, [&] {
    if (::setgid(user.gid) != 0 || ::setuid(user.uid) != 0) return 2;
    return check() ? 0 : 1;
  });
  return worker.wait(std::chrono::seconds(60)).exit_code;
}

TEST_F(AsRoot, OthersAreTheirOwnServerUser) {
  EXPECT_EQ(exit_of_worker_as("nobody", [] { return server_user("").name == "nobody"; }), 0);
}

TEST_F(AsRoot, OthersCannotAskForSomebodyElse) {
  EXPECT_EQ(exit_of_worker_as("nobody",
                              [] {
                                try {
                                  server_user("postgres");
                                } catch (const Error& error) {
                                  return error.kind() == ErrorKind::kPreflight &&
                                         error.remedy().find("as root") != std::string::npos;
                                }
                                return false;
                              }),
            0);
}

// A private /etc of this process, copied into memory, in which `postgres` does not exist.
bool enter_host_without_postgres() {
  namespace fs = std::filesystem;
  if (::unshare(CLONE_NEWNS) != 0) return false;
  if (::mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  const fs::path copy = fs::temp_directory_path();
  if (::mount("tmpfs", copy.c_str(), "tmpfs", 0, "") != 0) return false;
  fs::copy("/etc", copy / "etc", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  if (::mount((copy / "etc").c_str(), "/etc", "", MS_BIND, nullptr) != 0) return false;
  std::ostringstream kept;
  std::ifstream file("/etc/passwd");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("postgres:")) kept << line << '\n';
  }
  std::ofstream("/etc/passwd") << kept.str();
  return true;
}

constexpr int kNoNamespaces = 77;

TEST_F(AsRoot, CreatesAUserWithoutALoginWhereThereIsNone) {
  Worker worker = Worker::fork({}, [] {
    if (!enter_host_without_postgres()) return kNoNamespaces;
    const User made = server_user("");
    const std::string entry = run_command({"getent", "passwd", "numabench"}).out;
    const bool right = made.name == "numabench" && made.uid != 0 && server_user("") == made &&
                       entry.find("nologin") != std::string::npos;
    return right ? 0 : 1;
  });
  const int exit_code = worker.wait(std::chrono::seconds(60)).exit_code;
  if (exit_code == kNoNamespaces) GTEST_SKIP() << "this container may not mount";
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(find_user("numabench"), std::nullopt) << "it was made on the host";
}

TEST_F(AsRoot, ACommandRunsAsItsUserAloneWithItsGroup) {
  const User nobody = *find_user("nobody");
  CommandOptions options;
  options.user = nobody;
  options.working_directory = "/";
  const std::string status = run_command({"/bin/cat", "/proc/self/status"}, options).out;
  const std::string uid = std::to_string(nobody.uid);
  const std::string gid = std::to_string(nobody.gid);
  EXPECT_THAT(status, HasSubstr("Uid:\t" + uid + "\t" + uid + "\t" + uid + "\t" + uid + "\n"));
  EXPECT_THAT(status, HasSubstr("Gid:\t" + gid + "\t" + gid + "\t" + gid + "\t" + gid + "\n"));
  EXPECT_THAT(status, HasSubstr("Groups:\t" + gid + " \n"));
  EXPECT_THAT(status, HasSubstr("CapEff:\t0000000000000000\n"));
}

TEST_F(AsRoot, AProgramThatItsUserCannotReachIsNotCalledAbsent) {
  CommandOptions options;
  options.user = find_user("nobody");
  const Error error = error_of([&] { run_command({"/root/program"}, options); });
  EXPECT_EQ(error.kind(), ErrorKind::kRun);
  EXPECT_THAT(error.what(), HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace numabench
