#include "hosts/doctor/host_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kCpus = "/sys/devices/system/cpu/";
constexpr const char* kNodes = "/sys/devices/system/node/";
constexpr std::uint64_t kMiB = 1 << 20;

// A made-up bare-metal host of two nodes and two CPUs that is fit for an experiment with 64 MiB of
// pool on each node.
class Doctor : public ::testing::Test {
 protected:
  void SetUp() override {
    write_processors();
    write_memory();
    for (const char* path : {"/proc/sys/kernel/numa_balancing", "/proc/sys/vm/zone_reclaim_mode",
                             "/proc/sys/kernel/randomize_va_space",
                             "/proc/sys/vm/dirty_background_ratio", "/proc/sys/vm/dirty_ratio"}) {
      write(path, "0");
    }
    write("/proc/sys/vm/swappiness", "1");
    write("/proc/sys/vm/dirty_background_bytes", "268435456");
    write("/proc/sys/vm/dirty_bytes", "1073741824");
    write("/proc/sys/kernel/perf_event_paranoid", "1");
    write("/proc/self/status", "Cpus_allowed_list:\t0-1");
    write("/proc/self/cgroup", "0::/job");
    write("/proc/self/mountinfo", "22 1 8:1 / / rw,noatime shared:1 - xfs /dev/sda1 rw");
    write("/proc/self/limits",
          "Limit Soft Hard Units\nMax locked memory  unlimited unlimited bytes\n"
          "Max open files  65536 65536 files\nMax processes  unlimited unlimited processes");
    needs_.huge_pages = HostNeeds::HugePages::kRequired;
    needs_.pool_bytes_by_node = {{0, 64 * kMiB}, {1, 64 * kMiB}};
    needs_.memory_bytes = 200 * kMiB;
    needs_.clients = 24;
    needs_.data_directory = "/";
    needs_.server_directories = {servers_.path()};
    write_program("postgres", "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)");
    write_program("pgbench", "pgbench (PostgreSQL) 15.14");
  }

  void write_processors() {
    write("/proc/cpuinfo", "model name\t: Xeon\nflags\t\t: fpu vme");
    write("/sys/devices/system/cpu/online", "0-1");
    write("/sys/devices/system/cpu/smt/control", "off");
    write("/sys/devices/system/cpu/intel_pstate/no_turbo", "1");
    write("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle");
    for (const char* cpu : {"cpu0/", "cpu1/"}) {
      write(kCpus + (cpu + std::string("cpufreq/scaling_governor")), "performance");
      write_idle_state(cpu, 0, "POLL", "0", "0");
      write_idle_state(cpu, 1, "C6", "170", "1");
    }
    write(clock("current"), "tsc");
    write(clock("available"), "tsc hpet acpi_pm");
  }

  void write_memory() {
    write("/proc/meminfo",
          "MemTotal: 4194304 kB\nMemAvailable: 2097152 kB\nSwapTotal: 0 kB\n"
          "HugePages_Total: 64\nHugePages_Free: 64\nHugepagesize: 2048 kB");
    write(thp("enabled"), "always madvise [never]");
    write(thp("shmem_enabled"), "always within_size advise [never] deny force");
    for (const std::string node : {"0", "1"}) {
      write(huge(node, "nr_hugepages"), "40");
      write(huge(node, "free_hugepages"), "32");
      write_node_memory(node, 1024 * 1024, 100);
    }
  }

  void write(const std::string& path, const std::string& text) { root_.write(path, text + "\n"); }
  void write_idle_state(const std::string& cpu, int state, const char* name, const char* latency,
                        const char* disabled) {
    const std::string folder = kCpus + cpu + "cpuidle/state" + std::to_string(state) + "/";
    write(folder + "name", name);
    write(folder + "latency", latency);
    write(folder + "disable", disabled);
  }
  void write_node_memory(const std::string& node, int free_kb, int cache_kb) {
    const std::string label = "Node " + node + " ";
    write(kNodes + ("node" + node) + "/meminfo",
          label + "MemTotal:  2097152 kB\n" + label + "MemFree:  " + std::to_string(free_kb) +
              " kB\n" + label + "FilePages:  " + std::to_string(cache_kb) + " kB\n" + label +
              "Shmem:  0 kB\n" + label + "HugePages_Free:  32");
  }
  void write_program(const std::string& name, const std::string& says) {
    const std::string path = servers_.write(name, "#!/bin/sh\necho '" + says + "'\n");
    ::chmod(path.c_str(), 0755);
  }
  static std::string clock(const std::string& which) {
    return "/sys/devices/system/clocksource/clocksource0/" + which + "_clocksource";
  }
  static std::string thp(const std::string& which) {
    return "/sys/kernel/mm/transparent_hugepage/" + which;
  }
  static std::string huge(const std::string& node, const std::string& file) {
    return kNodes + ("node" + node) + "/hugepages/hugepages-2048kB/" + file;
  }

  std::vector<HostCheck> sheet() const {
    return examine_host({root_.path(), take_snapshot(root_.path()), load_}, needs_);
  }
  HostCheck check(const std::string& name) const {
    for (const HostCheck& candidate : sheet()) {
      if (candidate.name == name) return candidate;
    }
    ADD_FAILURE() << "no check '" << name << "'";
    return {};
  }

  TemporaryDirectory root_;
  TemporaryDirectory servers_;
  HostNeeds needs_;
  HostLoad load_;
};

TEST_F(Doctor, FindsNothingOnAFitHost) {
  const auto checks = sheet();
  EXPECT_THAT(checks, SizeIs(testing::Ge(28u)));
  for (const HostCheck& check : checks) {
    EXPECT_EQ(to_string(check.rating), "ok") << check.name << ": " << check.value << check.reason;
    EXPECT_NE(check.value, "") << check.name;
    EXPECT_NE(check.wanted, "") << check.name;
    EXPECT_NE(check.why, "") << check.name;
  }
}

struct Spoiled {
  std::string path;
  std::string text;
  std::string check;
  Rating rating;
  std::string value;  // part of it
};

TEST_F(Doctor, RatesWhatSpoilsNumbers) {
  const std::string cpus = kCpus;
  for (const Spoiled& spoiled : std::vector<Spoiled>{
           {"/proc/cpuinfo", "flags\t: fpu hypervisor", "virtualisation", Rating::kRed, "virtual"},
           {cpus + "cpu1/cpufreq/scaling_governor", "powersave", "governor", Rating::kWarn,
            "powersave (cpus 1)"},
           {cpus + "intel_pstate/no_turbo", "0", "turbo", Rating::kNote, "on"},
           {cpus + "smt/control", "on", "smt", Rating::kNote, "on"},
           {cpus + "cpu1/cpuidle/state1/disable", "0", "idle states", Rating::kWarn, "C6 (170 µs)"},
           {clock("current"), "hpet", "clocksource", Rating::kRed, "hpet"},
           {clock("current"), "xen", "clocksource", Rating::kRed, "xen"},
           {clock("current"), "kvm-clock", "clocksource", Rating::kNote, "kvm-clock"},
           {"/proc/sys/kernel/numa_balancing", "1", "numa balancing", Rating::kRed, "1"},
           {"/proc/sys/vm/zone_reclaim_mode", "1", "zone reclaim mode", Rating::kWarn, "1"},
           {thp("enabled"), "[always] madvise never", "transparent huge pages", Rating::kRed,
            "always"},
           {thp("enabled"), "always [madvise] never", "transparent huge pages", Rating::kNote,
            "madvise"},
           {thp("shmem_enabled"), "[always] within_size advise never",
            "transparent huge pages shared memory", Rating::kRed, "always"},
           {huge("1", "free_hugepages"), "31", "huge pages node 1", Rating::kRed, "31 free"},
           {"/proc/sys/vm/dirty_background_bytes", "2147483648", "dirty background bytes",
            Rating::kWarn, "2147483648"},
           {"/proc/sys/vm/dirty_bytes", "17179869184", "dirty bytes", Rating::kWarn, "17179869184"},
           {"/proc/self/status", "Cpus_allowed_list:\t1", "cpus allowed", Rating::kNote, "1"},
           {"/sys/fs/cgroup/job/cpu.max", "150000 100000", "cgroup cpu limit", Rating::kRed,
            "150000"},
           {"/sys/fs/cgroup/memory.max", "104857600", "cgroup memory limit", Rating::kRed,
            "100 MiB"},
           {"/sys/fs/cgroup/memory.max", "1073741824", "cgroup memory limit", Rating::kNote,
            "1 GiB"},
           {"/sys/fs/cgroup/job/hugetlb.2MB.max", "67108864", "cgroup huge pages limit",
            Rating::kRed, "64 MiB"},
           {"/proc/41/comm", "irqbalance", "irqbalance", Rating::kWarn, "running"},
           {"/proc/sys/kernel/randomize_va_space", "2", "aslr", Rating::kNote, "2"},
           {"/proc/sys/kernel/perf_event_paranoid", "2", "perf event paranoid", Rating::kNote, "2"},
           {"/proc/self/limits", "Max open files 256 4096 files", "open files limit", Rating::kRed,
            "256"},
           {"/proc/self/limits", "Max processes 100 100 processes", "processes limit", Rating::kRed,
            "100"},
           {"/proc/self/limits", "Max locked memory 65536 65536 bytes", "locked memory limit",
            Rating::kNote, "65536"},
           {"/proc/self/mountinfo", "22 1 0:4 / / rw - nfs4 server:/x rw", "filesystem",
            Rating::kRed, "nfs4"},
           {"/proc/self/mountinfo", "22 1 0:4 / / rw - tmpfs tmpfs rw", "filesystem", Rating::kWarn,
            "tmpfs"},
           {"/proc/self/mountinfo", "22 1 0:4 / / rw - overlay overlay rw", "filesystem",
            Rating::kWarn, "overlay"},
           {"/proc/self/mountinfo", "22 1 8:1 / / rw,sync - ext4 /dev/sda rw", "filesystem",
            Rating::kWarn, "sync"},
           {"/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda rw,nobarrier", "filesystem",
            Rating::kWarn, "nobarrier"},
       }) {
    SCOPED_TRACE(spoiled.path + ": " + spoiled.text);
    std::ifstream old(root_.path() + spoiled.path);
    const std::string old_text{std::istreambuf_iterator<char>(old), {}};
    write(spoiled.path, spoiled.text);
    const HostCheck found = check(spoiled.check);
    EXPECT_EQ(to_string(found.rating), to_string(spoiled.rating));
    EXPECT_THAT(found.value, HasSubstr(spoiled.value));
    if (old) {
      root_.write(spoiled.path, old_text);
    } else {
      std::filesystem::remove(root_.path() + spoiled.path);
    }
  }
}

// Neither an empty root nor any single file that is missing makes a line disappear.
TEST_F(Doctor, SaysWhatItCannotRead) {
  const auto known = sheet();
  const TemporaryDirectory empty;
  const auto blind = examine_host({empty.path(), take_snapshot(empty.path()), {}}, needs_);
  std::vector<std::string> names;
  for (const HostCheck& check : blind) names.push_back(check.name);
  for (const HostCheck& check : known) {
    if (check.name.find(" node ") != std::string::npos) continue;
    EXPECT_THAT(names, Contains(check.name));
  }
  for (const HostCheck& check : blind) {
    if (check.reason.empty()) continue;
    EXPECT_EQ(to_string(check.rating), "note") << check.name;
    EXPECT_EQ(check.value, "") << check.name;
  }
  std::filesystem::remove(root_.path() + "/proc/sys/kernel/numa_balancing");
  EXPECT_THAT(check("numa balancing").reason, HasSubstr("No such file"));
}

TEST_F(Doctor, SaysHowToSetWhatCanBeSet) {
  EXPECT_THAT(check("numa balancing").settings,
              ElementsAre(FileSetting{"/proc/sys/kernel/numa_balancing", "0"}));
  EXPECT_THAT(
      check("governor").settings,
      ElementsAre(
          FileSetting{kCpus + std::string("cpu0/cpufreq/scaling_governor"), "performance"},
          FileSetting{kCpus + std::string("cpu1/cpufreq/scaling_governor"), "performance"}));
  EXPECT_THAT(check("idle states").settings,
              ElementsAre(FileSetting{kCpus + std::string("cpu0/cpuidle/state1/disable"), "1"},
                          FileSetting{kCpus + std::string("cpu1/cpuidle/state1/disable"), "1"}));
  EXPECT_THAT(check("clocksource").settings, ElementsAre(FileSetting{clock("current"), "tsc"}));
  write(clock("available"), "hpet acpi_pm");
  EXPECT_THAT(check("clocksource").settings, IsEmpty());
  EXPECT_THAT(check("clocksource").how, HasSubstr("boot"));
}

// 32 pages of 2 MiB hold 64 MiB; of 40 on the node, 8 are in use by somebody else.
TEST_F(Doctor, CountsTheHugePagesThatAPoolNeedsOnItsNodes) {
  write(huge("1", "free_hugepages"), "10");
  EXPECT_THAT(check("huge pages node 1").settings,
              ElementsAre(FileSetting{huge("1", "nr_hugepages"), "62"}));
  needs_.huge_pages = HostNeeds::HugePages::kWanted;
  EXPECT_EQ(to_string(check("huge pages node 1").rating), "warn");
  needs_.pool_bytes_by_node.erase(1);
  EXPECT_EQ(to_string(check("huge pages node 1").rating), "ok");
  EXPECT_EQ(check("huge pages node 1").wanted, "none");
  needs_.huge_pages = HostNeeds::HugePages::kNone;
  EXPECT_THAT(check("huge pages node 0").settings, IsEmpty());
}

TEST_F(Doctor, LooksForThePoolsMemoryOnEachNode) {
  needs_.pool_bytes_by_node[1] = 1536 * kMiB;  // 1024 free and 64 in huge pages
  EXPECT_EQ(to_string(check("free memory node 0").rating), "ok");
  EXPECT_EQ(to_string(check("free memory node 1").rating), "red");
  write_node_memory("1", 1024 * 1024, 512 * 1024);
  EXPECT_EQ(to_string(check("free memory node 1").rating), "warn") << "the page cache can go";
}

TEST_F(Doctor, ForgivesOneNodeItsBalancing) {
  std::filesystem::remove_all(root_.path() + kNodes + "node1");
  write("/proc/sys/kernel/numa_balancing", "1");
  EXPECT_EQ(to_string(check("numa balancing").rating), "note");
}

TEST_F(Doctor, MindsSwappinessWhereThereIsSwap) {
  write("/proc/sys/vm/swappiness", "60");
  EXPECT_EQ(to_string(check("swappiness").rating), "ok");
  write("/proc/meminfo", "SwapTotal: 1024 kB");
  EXPECT_EQ(to_string(check("swappiness").rating), "warn");
  EXPECT_THAT(check("swappiness").settings,
              ElementsAre(FileSetting{"/proc/sys/vm/swappiness", "1"}));
}

TEST_F(Doctor, TurnsDirtyRatiosIntoBytes) {
  write("/proc/sys/vm/dirty_background_bytes", "0");
  write("/proc/sys/vm/dirty_background_ratio", "60");  // of 2 GiB available
  const HostCheck found = check("dirty background bytes");
  EXPECT_EQ(to_string(found.rating), "warn");
  EXPECT_EQ(found.value, "1.2 GiB (60 % of the memory)");
}

TEST_F(Doctor, WantsWhatTheExperimentWants) {
  needs_.settings = {{"turbo", "on"}, {"aslr", "2"}, {"swappiness", "0"}};
  const HostCheck turbo = check("turbo");
  EXPECT_EQ(to_string(turbo.rating), "warn");
  EXPECT_THAT(turbo.settings,
              ElementsAre(FileSetting{kCpus + std::string("intel_pstate/no_turbo"), "0"}));
  EXPECT_EQ(to_string(check("aslr").rating), "warn");
  EXPECT_EQ(to_string(check("swappiness").rating), "warn");
  for (const SettableCheck& settable : settable_checks()) {
    const std::string value = settable.values.empty() ? "7" : settable.values.front();
    needs_.settings = {{settable.name, value}};
    EXPECT_EQ(check(settable.name).wanted, value);
    EXPECT_THAT(check(settable.name).settings, Not(IsEmpty())) << settable.name;
  }
}

TEST_F(Doctor, NamesTheLoadOfOthers) {
  load_ = {0.3, 0, {"clang 0.3"}};
  EXPECT_EQ(to_string(check("other load").rating), "warn");
  load_ = {1.2, 0.4, {"clang 0.9"}};
  EXPECT_EQ(to_string(check("other load").rating), "red");
  EXPECT_EQ(check("other load").value, "1.2 of 2 CPUs busy: clang 0.9");
  EXPECT_EQ(to_string(check("stolen time").rating), "red");
}

TEST_F(Doctor, ReadsTheVersionsOfServersAndPgbench) {
  EXPECT_THAT(check("postgres").value, HasSubstr("server 15.14, pgbench 15.14"));
  write_program("pgbench", "pgbench (PostgreSQL) 13.22");
  EXPECT_EQ(to_string(check("postgres").rating), "note");
  std::filesystem::remove(servers_.path() + "/pgbench");
  EXPECT_THAT(check("postgres").value, HasSubstr("pgbench missing"));
}

TEST_F(Doctor, ComparesTheDiskWithThePlan) {
  needs_.disk_bytes = 1ull << 60;
  EXPECT_EQ(to_string(check("free disk space").rating), "red");
}

TEST_F(Doctor, WritesJsonAndLines) {
  write("/proc/sys/kernel/numa_balancing", "1");
  std::filesystem::remove(root_.path() + "/proc/sys/vm/zone_reclaim_mode");
  const auto json = nlohmann::json::parse(to_json(take_snapshot(root_.path()), sheet()));
  std::map<std::string, nlohmann::json> by_name;
  for (const auto& check : json["checks"]) by_name[check["name"]] = check;
  EXPECT_EQ(by_name["numa balancing"]["rating"], "red");
  EXPECT_EQ(by_name["numa balancing"]["settings"][0]["value"], "0");
  EXPECT_TRUE(by_name["zone reclaim mode"]["value"].is_null());
  EXPECT_EQ(json["facts"]["numa balancing"], "1");

  const std::string text = format_sheet(sheet(), false);
  EXPECT_THAT(text, AllOf(HasSubstr("red   numa balancing"), HasSubstr("why  the kernel unmaps"),
                          HasSubstr("how  numabench doctor --apply, or sysctl "
                                    "kernel.numa_balancing=0"),
                          HasSubstr("unknown: /proc/sys/vm/zone_reclaim_mode: No such file")));
  EXPECT_THAT(text, Not(HasSubstr("other governors")));
  EXPECT_THAT(format_sheet(sheet(), true), HasSubstr("other governors"));
  EXPECT_THAT(describe_checks(sheet(), Rating::kRed), ElementsAre("numa balancing 1 (wanted: 0)"));
}

// proc(5): fields 14 and 15 of stat are a process's time, whatever its name holds.
TEST(HostLoad, IsTheWorkOfOthers) {
  const TemporaryDirectory before, after;
  const auto stat = [](const std::string& name, int user, int system) {
    return "1 (" + name + ") S 1 1 1 0 -1 0 0 0 0 0 " + std::to_string(user) + " " +
           std::to_string(system) + " 0 0 20 0 1 0 5";
  };
  before.write("/proc/stat", "cpu  1000 0 500 9000 50 10 40 7\ncpu0 1 2 3\n");
  after.write("/proc/stat", "cpu  1060 10 520 9100 60 10 50 17\ncpu0 1 2 3\n");
  before.write("/proc/10/stat", stat("a (b) c", 100, 10));
  after.write("/proc/10/stat", stat("a (b) c", 140, 20));
  before.write("/proc/11/stat", stat("self", 0, 0));
  after.write("/proc/11/stat", stat("self", 20, 0));
  after.write("/proc/12/stat", stat("small", 4, 0));
  const double one_second_of_a_hundred_ticks = static_cast<double>(::sysconf(_SC_CLK_TCK)) / 100;
  const HostLoad load = load_between(read_cpu_times(before.path()), read_cpu_times(after.path()),
                                     1 / one_second_of_a_hundred_ticks, 11);
  EXPECT_NEAR(load.busy_cpus, 0.80, 1e-9);  // 60 + 10 + 20 + 10 ticks, less 20 of our own
  EXPECT_NEAR(load.stolen_cpus, 0.10, 1e-9);
  EXPECT_THAT(load.busiest, ElementsAre("a (b) c 0.5"));
}

}  // namespace
}  // namespace numabench
