// hosts/bootstrap.sh and hosts/install_packages.sh against stand-ins of the package managers, sudo
// and cmake: each writes down how it was called, and nothing on this machine changes.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/e2e/driver.h"
#include "tests/paths.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Bootstrap : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return directory_.path() + "/" + name; }
  void SetUp() override {
    fs::create_directories(root_);
    fs::copy(fs::path(source_dir()) / "hosts", root_ / "hosts", fs::copy_options::recursive);
    for (const char* tool : {"awk", "bash", "cat", "dirname", "env", "mkdir", "mktemp", "nproc",
                             "rm", "stat", "tail", "tee"}) {
      fs::create_symlink(fs::path("/usr/bin") / tool, bin() / tool);
    }
    pretend_system("ID=debian\n");
    pretend_user("0");
    stub("dpkg-query", "echo installed");
    stub("apt-get", record("apt-get"));
  }

  fs::path bin() const {
    fs::create_directories(file("bin"));
    return file("bin");
  }

  void stub(const std::string& name, const std::string& body) {
    write_file(bin() / name, "#!/bin/bash\n" + body + "\n");
    fs::permissions(bin() / name, fs::perms::owner_all);
  }
  std::string record(const std::string& name) const {
    return "echo \"" + name + " $*\" >>" + (file("calls"));
  }
  std::vector<std::string> calls() const { return lines_of(read_file(file("calls"))); }

  void pretend_system(const std::string& os_release) { write_file(file("os-release"), os_release); }
  void pretend_user(const std::string& id) { stub("id", "echo " + id); }
  // Every package is installed but this one.
  void pretend_missing(const std::string& package) {
    stub("dpkg-query", "[[ ${*: -1} == " + package + " ]] && exit 1; echo installed");
    stub("rpm", "[[ ${*: -1} != " + package + " ]]");
  }

  CommandResult call(const std::string& script, const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {root_ / "hosts" / script};
    command.insert(command.end(), arguments.begin(), arguments.end());
    CommandOptions options;
    options.environment = {{"PATH", bin()}, {"NUMABENCH_OS_RELEASE", file("os-release")}};
    options.working_directory = directory_.path();
    return run_command(command, options);
  }
  CommandResult install() { return call("install_packages.sh", {"run"}); }

  TemporaryDirectory directory_;
  fs::path root_ = file("clone of numabench");
};

TEST_F(Bootstrap, WithNothingMissingNothingIsTouched) {
  const CommandResult result = install();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(Bootstrap, InstallsOnlyWhatIsMissing) {
  pretend_missing("libhwloc-dev");
  const CommandResult result = install();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(calls(), ElementsAre("apt-get update",
                                   "apt-get install --yes --no-install-recommends libhwloc-dev"));
}

TEST_F(Bootstrap, SaysWhatItInstallsBeforeItDoesAndShowsAFailure) {
  pretend_missing("libhwloc-dev");
  stub("apt-get", "echo 'mirror is gone'; exit 100");
  const CommandResult result = install();
  EXPECT_EQ(result.exit_code, 3);
  const auto announced = result.err.find("missing and will be installed: libhwloc-dev");
  const auto failed = result.err.find("mirror is gone");
  ASSERT_NE(announced, std::string::npos) << result.err;
  ASSERT_NE(failed, std::string::npos) << result.err;
  EXPECT_LT(announced, failed);
  EXPECT_THAT(result.err, EndsWith("this failed: apt-get update\n"));
}

TEST_F(Bootstrap, AnOrdinaryUserInstallsThroughSudo) {
  pretend_missing("cmake");
  pretend_user("1000");
  stub("sudo", record("sudo") + "; \"$@\"");
  EXPECT_EQ(install().exit_code, 0);
  EXPECT_THAT(calls(), ElementsAre("sudo apt-get update", "apt-get update",
                                   "sudo env DEBIAN_FRONTEND=noninteractive apt-get install --yes "
                                   "--no-install-recommends cmake",
                                   "apt-get install --yes --no-install-recommends cmake"));
}

TEST_F(Bootstrap, WithoutRootAndSudoItSaysSo) {
  pretend_missing("cmake");
  pretend_user("1000");
  const CommandResult result = install();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("only root can install packages and there is no sudo"));
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(Bootstrap, FedoraIsServedByDnf) {
  pretend_system("ID=fedora\n");
  pretend_missing("hwloc-devel");
  stub("dnf", record("dnf"));
  EXPECT_EQ(install().exit_code, 0);
  EXPECT_THAT(calls(), ElementsAre("dnf --quiet list --available hwloc-devel",
                                   "dnf install --assumeyes --setopt=install_weak_deps=False "
                                   "hwloc-devel"));
}

TEST_F(Bootstrap, AmazonLinuxNamesWhatNoRepositoryHas) {
  pretend_system("ID=\"amzn\"\nID_LIKE=\"fedora\"\n");
  pretend_missing("cli11-devel");
  stub("dnf", record("dnf") + "; exit 1");
  const CommandResult result = install();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("do not have cli11-devel; enable SPAL"));
  EXPECT_THAT(calls(), ElementsAre("dnf --quiet list --available cli11-devel"));
}

TEST_F(Bootstrap, ADerivativeIsServedAsWhatItIsLike) {
  pretend_system("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n");
  EXPECT_EQ(install().exit_code, 0);
}

TEST_F(Bootstrap, AnUnknownSystemIsToldWhatToDo) {
  pretend_system("ID=plan9\nPRETTY_NAME=\"Plan 9\"\n");
  const CommandResult result = install();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, StartsWith("numabench: no package list for Plan 9; "));
}

// A cmake that "builds" a numabench which prints where it runs and what it got.
class BootstrapBuild : public Bootstrap {
 protected:
  void SetUp() override {
    Bootstrap::SetUp();
    stub("cmake", record("cmake") + R"(
build=")" + (root_ / "build/release").string() +
                      R"("
if [[ $1 == -S ]]; then
  touch "$build/build.ninja"
else
  echo "[1/1] Building"
  printf '#!/bin/bash\npwd\nprintf "<%%s>" "$@"\nexit 42\n' >"$build/numabench"
  chmod +x "$build/numabench"
fi)");
    for (const char* tool : {"chmod", "touch"}) {
      fs::create_symlink(fs::path("/usr/bin") / tool, bin() / tool);
    }
  }
};

TEST_F(BootstrapBuild, BecomesNumabenchWithTheArgumentsAsTheyAre) {
  const CommandResult result =
      call("bootstrap.sh", {"run", "a b.yaml", "--where", "ratio>=2,arm=*", ""});
  EXPECT_EQ(result.exit_code, 42) << result.err;
  EXPECT_EQ(result.out, directory_.path() + "\n<run><a b.yaml><--where><ratio>=2,arm=*><>");
}

TEST_F(BootstrapBuild, WithoutArgumentsShowsNumabenchsHelp) {
  EXPECT_THAT(call("bootstrap.sh", {}).out, EndsWith("<--help>"));
}

TEST_F(BootstrapBuild, ConfiguresOnceAndBuildsEachTime) {
  call("bootstrap.sh", {});
  call("bootstrap.sh", {});
  EXPECT_THAT(calls(), ElementsAre(HasSubstr("--preset release"), HasSubstr("--target numabench"),
                                   HasSubstr("--target numabench")));
}

TEST_F(BootstrapBuild, ABuildThatFailsShowsTheEndOfItsLog) {
  stub("cmake", "echo 'no compiler'; exit 1");
  const CommandResult result = call("bootstrap.sh", {});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("no compiler\nnumabench: configuring failed"));
  EXPECT_THAT(result.out, IsEmpty());
}

TEST_F(BootstrapBuild, ItsOwnHelpBuildsNothing) {
  const CommandResult result = call("bootstrap.sh", {"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, StartsWith("Usage: hosts/bootstrap.sh"));
  EXPECT_THAT(calls(), IsEmpty());
}

}  // namespace
}  // namespace numabench
