#include "hosts/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/hosts/kernel_view.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

using ::testing::HasSubstr;

std::string reason(const HostSnapshot& snapshot, const std::string& name) {
  for (const HostFact& fact : snapshot.facts) {
    if (fact.name == name) return fact.reason;
  }
  ADD_FAILURE() << "no fact '" << name << "'";
  return "";
}

// A made-up host: what a snapshot of a two-socket server reads.
class Snapshot : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) { root_.write(path, text + "\n"); }
  HostSnapshot take() const { return take_snapshot(root_.path()); }
  std::string value(const std::string& name) const { return take().value(name); }

  TemporaryDirectory root_;
};

TEST_F(Snapshot, ReadsOneValueFiles) {
  write("/proc/sys/kernel/hostname", "db1");
  write("/proc/sys/kernel/osrelease", "6.1.0-18-amd64");
  write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
  write("/proc/sys/kernel/numa_balancing", "1");
  write("/proc/sys/vm/zone_reclaim_mode", "0");
  write("/sys/devices/system/cpu/isolated", "");
  const HostSnapshot snapshot = take();
  EXPECT_EQ(snapshot.hostname, "db1");
  EXPECT_EQ(snapshot.value("kernel"), "6.1.0-18-amd64");
  EXPECT_EQ(snapshot.value("clocksource"), "hpet");
  EXPECT_EQ(snapshot.value("numa balancing"), "1");
  EXPECT_EQ(snapshot.value("zone reclaim mode"), "0");
  EXPECT_EQ(snapshot.value("cpus isolated"), "");
  EXPECT_EQ(reason(snapshot, "cpus isolated"), "") << "empty and yet known";
}

TEST_F(Snapshot, GivesTheReasonForWhatIsAbsent) {
  const HostSnapshot snapshot = take();
  EXPECT_EQ(reason(snapshot, "clocksource"),
            "/sys/devices/system/clocksource/clocksource0/current_clocksource: No such file or "
            "directory");
  EXPECT_THAT(reason(snapshot, "governor"), HasSubstr("No such file"));
  for (const HostFact& fact : snapshot.facts) {
    EXPECT_EQ(fact.value, "") << fact.name;
    EXPECT_NE(fact.reason, "") << fact.name;
  }
  EXPECT_EQ(snapshot.value("no such fact"), "");
}

TEST_F(Snapshot, ReadsTheChosenWord) {
  write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  EXPECT_EQ(value("transparent huge pages"), "madvise");
}

TEST_F(Snapshot, ReadsMemoryAndHugePages) {
  write("/proc/meminfo",
        "MemTotal:       131072000 kB\nHugePages_Total:      64\nHugePages_Free:       10\n"
        "Hugepagesize:       2048 kB");
  for (const char* node : {"node0", "node2"}) {
    const std::string directory =
        std::string("/sys/devices/system/node/") + node + "/hugepages/hugepages-2048kB/";
    write(directory + "nr_hugepages", node == std::string("node0") ? "64" : "0");
    write(directory + "free_hugepages", node == std::string("node0") ? "10" : "0");
  }
  write("/sys/devices/system/node/online", "0,2");
  const HostSnapshot snapshot = take();
  EXPECT_EQ(snapshot.value("memory total"), "131072000 kB");
  EXPECT_EQ(snapshot.value("huge pages total"), "64");
  EXPECT_EQ(snapshot.value("huge pages node 0"), "64 total, 10 free");
  EXPECT_EQ(snapshot.value("huge pages node 2"), "0 total, 0 free");
  EXPECT_THAT(reason(snapshot, "swap total"), HasSubstr("no line 'SwapTotal'"));
}

TEST_F(Snapshot, SaysWhetherAllGovernorsAreEqual) {
  const std::string directory = "/sys/devices/system/cpu/";
  for (int cpu = 0; cpu < 12; ++cpu) {
    write(directory + "cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor", "performance");
  }
  write(directory + "cpufreq/boost", "1");
  EXPECT_EQ(value("governor"), "performance");
  write(directory + "cpu11/cpufreq/scaling_governor", "powersave");
  EXPECT_EQ(value("governor"), "performance (cpus 0-10), powersave (cpus 11)");
}

TEST_F(Snapshot, ReadsTurboOfEitherDriver) {
  write("/sys/devices/system/cpu/cpufreq/boost", "0");
  EXPECT_EQ(value("turbo"), "off");
  write("/sys/devices/system/cpu/intel_pstate/no_turbo", "0");
  EXPECT_EQ(value("turbo"), "on");
  write("/sys/devices/system/cpu/intel_pstate/no_turbo", "1");
  EXPECT_EQ(value("turbo"), "off");
}

TEST_F(Snapshot, RecognisesAVirtualMachine) {
  write("/proc/cpuinfo", "model name\t: Xeon Z\nflags\t\t: fpu vme hypervisor_like");
  EXPECT_EQ(value("cpu model"), "Xeon Z");
  EXPECT_EQ(value("virtualisation"), "none");
  write("/proc/cpuinfo", "model name\t: Xeon Z\nflags\t\t: fpu hypervisor vme");
  EXPECT_EQ(value("virtualisation"), "virtual machine");
  write("/sys/hypervisor/type", "xen");
  EXPECT_EQ(value("virtualisation"), "xen virtual machine");
  write("/proc/cpuinfo", "processor\t: 0");  // an Arm server: no flags, no model name
  EXPECT_EQ(value("virtualisation"), "");
  EXPECT_THAT(reason(take(), "virtualisation"), HasSubstr("no line 'flags'"));
}

TEST_F(Snapshot, FindsTheFileSystemOfTheWorkingDirectory) {
  std::filesystem::create_directories(root_.path() + "/proc/self");
  std::filesystem::create_symlink("/data/pg/run", root_.path() + "/proc/self/cwd");
  write("/proc/self/mountinfo",
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        "30 22 259:1 / /data/pg rw shared:2 master:3 - xfs /dev/nvme1n1 rw\n"
        "31 22 0:40 / /data/pgother rw - nfs4 server:/x rw\n"
        "32 22 0:41 / /dat rw - tmpfs tmpfs rw");
  EXPECT_EQ(value("working directory"), "xfs on /data/pg");
}

TEST_F(Snapshot, TakesTheNearestCgroupLimit) {
  write("/proc/self/cgroup", "4:memory:/legacy\n0::/batch/job7/step0");
  write("/sys/fs/cgroup/batch/job7/step0/memory.max", "max");
  write("/sys/fs/cgroup/batch/job7/memory.max", "1073741824");
  write("/sys/fs/cgroup/batch/memory.max", "2147483648");
  write("/sys/fs/cgroup/batch/cpuset.cpus.effective", "0-7");
  const HostSnapshot snapshot = take();
  EXPECT_EQ(snapshot.value("cgroup memory limit"), "1073741824");
  EXPECT_EQ(snapshot.value("cgroup cpuset"), "0-7");
  EXPECT_THAT(reason(snapshot, "cgroup cpu limit"), HasSubstr("no cpu.max"));
  write("/proc/self/cgroup", "4:memory:/legacy");
  EXPECT_EQ(reason(take(), "cgroup memory limit"), "no memory.max in the cgroups of this process");
}

TEST_F(Snapshot, TakesTheLimitOfAnOlderCgroup) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/batch\n4:memory:/batch/job7\n0::/");
  write("/sys/fs/cgroup/memory/batch/job7/memory.limit_in_bytes", "9223372036854771712");
  write("/sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "1073741824");
  write("/sys/fs/cgroup/cpu/batch/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(value("cgroup memory limit"), "1073741824");
  EXPECT_EQ(value("cgroup cpu limit"), "max");
}

TEST_F(Snapshot, ReadsTheLimitOfLockedMemory) {
  const std::string head = "Limit  Soft Limit  Hard Limit  Units\nMax locked memory         ";
  write("/proc/self/limits", head + "8388608     unlimited     bytes");
  EXPECT_EQ(value("locked memory limit"), "8388608 bytes");
  write("/proc/self/limits", head + "unlimited   unlimited     bytes");
  EXPECT_EQ(value("locked memory limit"), "unlimited");
}

TEST_F(Snapshot, BecomesJsonWithNullForTheUnknown) {
  write("/proc/sys/kernel/hostname", "db1");
  write("/proc/cmdline", "quiet \"quoted\" \xff");  // firmware strings need not be UTF-8
  const auto json = nlohmann::json::parse(to_json(take()));
  EXPECT_EQ(json["hostname"], "db1");
  EXPECT_THAT(json["facts"]["kernel command line"].get<std::string>(),
              HasSubstr("quiet \"quoted\" "));
  EXPECT_TRUE(json["facts"]["clocksource"].is_null());
  EXPECT_THAT(json["reasons"]["clocksource"].get<std::string>(), HasSubstr("No such file"));
  EXPECT_FALSE(json["reasons"].contains("kernel command line"));
}

TEST(SnapshotOfThisHost, SaysWhatTheSystemCallsSay) {
  const HostSnapshot snapshot = take_snapshot();
  utsname system{};
  ASSERT_EQ(::uname(&system), 0);
  EXPECT_EQ(snapshot.hostname, system.nodename);
  EXPECT_EQ(snapshot.value("kernel"), system.release);
  EXPECT_EQ(snapshot.value("kernel build"), system.version);
  EXPECT_EQ(snapshot.value("cpus allowed"), status_value(::getpid(), "Cpus_allowed_list"));
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  EXPECT_EQ(snapshot.value("locked memory limit"), limit.rlim_cur == RLIM_INFINITY
                                                       ? "unlimited"
                                                       : std::to_string(limit.rlim_cur) + " bytes");
}

}  // namespace
}  // namespace numabench
