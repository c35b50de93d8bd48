// Debian's PostgreSQL 15, which every host that runs the tests has installed, and a data directory.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hosts/process.h"
#include "hosts/user.h"
#include "runner/arms/arm_build.h"
#include "runner/engines/postgres/server.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {

inline const std::string kInstalledBindir = "/usr/lib/postgresql/15/bin";

/// The last word of "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)" is not the version.
inline ArmBuild installed_build() {
  ArmBuild build;
  build.arm = "installed";
  build.inputs.key = std::string(64, '1');
  build.bindir = kInstalledBindir;
  build.postgres = kInstalledBindir + "/postgres";
  build.version = run_command({build.postgres, "--version"}).out;
  build.version_num = 150000;
  build.clock_reason = "installed";
  build.counted_reason = "installed";
  return build;
}

/// Goes away with its owner; the server's user may enter it and owns `own()`.
class ServerDirectory {
 public:
  ServerDirectory() {
    ::chmod(root_.path().c_str(), 0755);
    make(own());
  }

  const User& user() const { return user_; }
  std::string root() const { return root_.path(); }
  std::string own() const { return root_.path() + "/own"; }

  /// A new data directory, initialised.
  std::string initialised(const std::string& name) const {
    const std::string path = own() + "/" + name;
    CommandOptions options;
    options.user = user_;
    options.working_directory = own();
    const CommandResult result =
        run_command({kInstalledBindir + "/initdb", "-D", path, "--auth=trust", "--no-sync",
                     "--username=postgres", "--encoding=UTF8", "--locale=C"},
                    options);
    EXPECT_TRUE(result.ok()) << result.err;
    return path;
  }

 private:
  void make(const std::string& path) const {
    std::filesystem::create_directory(path);
    EXPECT_EQ(::chown(path.c_str(), user_.uid, user_.gid), 0);
  }

  TemporaryDirectory root_;
  User user_ = server_user("");
};

inline ServerOptions installed_options(const ServerDirectory& directory,
                                       const std::string& data_directory) {
  ServerOptions options;
  options.postgres = kInstalledBindir + "/postgres";
  options.data_directory = data_directory;
  options.user = directory.user();
  options.log_path = directory.own() + "/log";
  options.settings = {{"shared_buffers", "16MB"}, {"huge_pages", "off"}, {"fsync", "off"}};
  return options;
}

/// One initialised data directory for all tests of a suite, who use it in turn.
class WithDataDirectory : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new ServerDirectory;
    data_ = directory_->initialised("data");
  }
  static void TearDownTestSuite() {
    delete directory_;
    directory_ = nullptr;
  }

  static ServerOptions options() { return installed_options(*directory_, data_); }

  inline static ServerDirectory* directory_ = nullptr;
  inline static std::string data_;
};

}  // namespace numabench
