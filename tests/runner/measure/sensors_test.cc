// Each sensor over a tree of files that a kernel could show: two CPUs on two nodes.
#include "runner/measure/sensors/sensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <numeric>
#include <thread>

#include "hosts/process.h"
#include "hosts/process_stats.h"
#include "reports/monitor_metrics.h"
#include "runner/measure/monitor.h"
#include "runner/measure/sensors/clock.h"
#include "runner/measure/sensors/perf.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Sensors : public testing::Test {
 protected:
  Sensors() {
    target_.root = root_.path();
    target_.node_of_cpu = {{0, 0}, {1, 1}};
    target_.cpus = {0, 1};
    target_.nodes = {0, 1};
  }

  void write(const std::string& path, const std::string& text) { root_.write(path, text + "\n"); }
  void write_stat(const std::string& cpu0, const std::string& cpu1, const std::string& all,
                  int switches = 0) {
    write("/proc/stat", "cpu  " + all + "\ncpu0 " + cpu0 + "\ncpu1 " + cpu1 + "\nintr " +
                            std::to_string(10 * switches) + " 5 0 9\nctxt " +
                            std::to_string(switches) + "\nprocs_running 4");
  }
  static double value(const std::vector<MetricValue>& values, const std::string& metric) {
    const MetricValue* found = find_value(values, metric);
    if (found == nullptr || !found->value) {
      ADD_FAILURE() << metric << ": " << (found == nullptr ? "not there" : found->reason);
      return -1;
    }
    return *found->value;
  }
  static std::string reason(const std::vector<MetricValue>& values, const std::string& metric) {
    const MetricValue* found = find_value(values, metric);
    return found == nullptr ? "not there" : found->reason;
  }

  TemporaryDirectory root_;
  MonitorTarget target_;
};

TEST_F(Sensors, NoneHasAMetricThatTheCatalogueLacksAndNoneInventsANumberWhereThereIsNoFile) {
  target_.perf = true;
  target_.processes = {{"server", 1 << 30, {}, true}};
  for (const SensorEntry& entry : sensor_registry()) {
    const auto sensor = entry.make(target_);
    for (const double seconds : {0.0, 1.0}) {
      for (const MetricValue& reading : sensor->read(seconds)) {
        EXPECT_NE(find_metric(reading.metric), nullptr) << reading.metric;
        EXPECT_EQ(reading.value.has_value(), reading.reason.empty()) << reading.metric;
        const bool ours = reading.metric == "wall_clock_jump_s" ||
                          reading.metric == "stopped_processes";  // no file is needed to know them
        if (!ours) {
          EXPECT_FALSE(reading.value) << entry.name << ": " << reading.metric;
        }
      }
    }
  }
}

TEST_F(Sensors, TheProcessorsSharesAreOfTheTicksSinceTheLastLook) {
  const auto sensor = make_processor_sensor(target_);
  write_stat("100 0 0 100 0 0 0 0", "0 0 0 200 0 0 0 0", "100 0 0 300 0 0 0 0");
  EXPECT_EQ(find_value(sensor->read(0), "cpu_busy_pct"), nullptr);
  // CPU 0: 60 user, 20 system, 10 hard and 10 soft interrupts; CPU 1: 50 idle, 30 waiting, 20
  // stolen
  write_stat("160 0 20 100 0 10 10 0", "0 0 0 250 30 0 0 20", "160 0 20 350 30 10 10 20", 3000);
  const auto values = sensor->read(2);
  EXPECT_NEAR(value(values, "cpu_busy_pct"), 50, 1e-9);
  EXPECT_NEAR(value(values, "cpu_system_pct"), 20, 1e-9);
  EXPECT_NEAR(value(values, "cpu_iowait_pct"), 15, 1e-9);
  EXPECT_NEAR(value(values, "cpu_steal_pct"), 10, 1e-9);
  EXPECT_NEAR(value(values, "cpu_busiest_pct"), 100, 1e-9);
  EXPECT_NEAR(value(values, "cpu_idlest_pct"), 0, 1e-9);
  EXPECT_NEAR(value(values, "busy_pct_node0"), 100, 1e-9);
  EXPECT_NEAR(value(values, "busy_pct_node1"), 0, 1e-9);
  EXPECT_EQ(value(values, "run_queue"), 3) << "without the one that looks";
  EXPECT_EQ(value(values, "host_switches_per_s"), 1500);
  EXPECT_EQ(value(values, "interrupts_per_s"), 15000);
  ASSERT_EQ(sensor->artifacts().size(), 1u);
  EXPECT_EQ(sensor->artifacts()[0].bytes, "t_seconds,cpu,busy_pct\n2,0,100\n2,1,0\n");
}

TEST_F(Sensors, TheFrequencyIsThatOfTheRunsCpusAndItsMovementOfTheWholeWindow) {
  const auto cpufreq = [&](int cpu, int khz) {
    write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_cur_freq",
          std::to_string(khz));
  };
  target_.cpus = {1};
  const auto sensor = make_frequency_sensor(target_);
  cpufreq(0, 1000000);
  cpufreq(1, 3000000);
  EXPECT_EQ(value(sensor->read(0), "frequency_mhz"), 3000);
  cpufreq(1, 2400000);
  EXPECT_EQ(value(sensor->read(1), "frequency_moved_pct"), 20);
  cpufreq(1, 3000000);
  EXPECT_EQ(value(sensor->read(1), "frequency_moved_pct"), 20) << "it has moved, if it is back";
}

TEST_F(Sensors, ThrottlingIsCountedAndTheHottestZoneTold) {
  const auto sensor = make_thermal_sensor(target_);
  const auto count = [&](int cpu, const char* kind, int events) {
    write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/thermal_throttle/" + kind +
              "_throttle_count",
          std::to_string(events));
  };
  count(0, "core", 7);
  count(1, "package", 1);
  write("/sys/class/thermal/thermal_zone0/temp", "41000");
  write("/sys/class/thermal/thermal_zone1/temp", "67500");
  EXPECT_EQ(find_value(sensor->read(0), "throttle_events"), nullptr) << "of the past";
  count(0, "core", 9);
  const auto values = sensor->read(1);
  EXPECT_EQ(value(values, "throttle_events"), 2);
  EXPECT_EQ(value(values, "temperature_c"), 67.5);
}

TEST_F(Sensors, AClockThatIsSetAndAClocksourceThatChangesAreSeen) {
  const std::string path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  double difference = 1e9;
  const auto sensor = make_clock_sensor(root_.path(), [&] { return difference; });
  write(path, "tsc");
  EXPECT_THAT(sensor->read(0), IsEmpty());
  auto values = sensor->read(1);
  EXPECT_EQ(value(values, "wall_clock_jump_s"), 0);
  EXPECT_EQ(value(values, "clocksource_changes"), 0);
  difference -= 3;
  write(path, "hpet");
  values = sensor->read(1);
  EXPECT_EQ(value(values, "wall_clock_jump_s"), 3);
  EXPECT_EQ(value(values, "clocksource_changes"), 1);
}

TEST_F(Sensors, MemoryIsInBytes) {
  write("/proc/meminfo",
        "MemTotal:  8 kB\nMemAvailable:  5 kB\nCached:  3 kB\nDirty: 1 kB\nSwapTotal:  10 kB\n"
        "SwapFree:  4 kB\nHugePages_Free:  17");
  const auto values = make_memory_sensor(target_)->read(0);
  EXPECT_EQ(value(values, "memory_available_bytes"), 5 * 1024);
  EXPECT_EQ(value(values, "page_cache_bytes"), 3 * 1024);
  EXPECT_EQ(value(values, "dirty_bytes"), 1024);
  EXPECT_EQ(value(values, "swap_used_bytes"), 6 * 1024);
  EXPECT_EQ(value(values, "huge_pages_free"), 17);
}

TEST_F(Sensors, VmstatTellsRatesAndTotalsAndWhatAKernelDoesNotHave) {
  const auto sensor = make_vmstat_sensor(target_);
  write("/proc/vmstat", "pswpin 1\npswpout 2\noom_kill 0\nnuma_miss 100\npgmajfault 5");
  sensor->read(0);
  write("/proc/vmstat", "pswpin 2\npswpout 5\noom_kill 1\nnuma_miss 300\npgmajfault 5");
  const auto values = sensor->read(2);
  EXPECT_EQ(value(values, "swapped_pages"), 4) << "a total";
  EXPECT_EQ(value(values, "oom_kills"), 1);
  EXPECT_EQ(value(values, "numa_misses_per_s"), 100) << "a rate";
  EXPECT_EQ(value(values, "major_faults_per_s"), 0);
  EXPECT_EQ(reason(values, "thp_splits_per_s"), "this kernel's /proc/vmstat has no thp_split_page");
}

TEST_F(Sensors, EachNodeHasItsOwn) {
  const auto sensor = make_node_sensor(target_);
  const auto numastat = [&](int node, int misses) {
    write("/sys/devices/system/node/node" + std::to_string(node) + "/numastat",
          "numa_hit 10\nnuma_miss " + std::to_string(misses) + "\nother_node 0");
  };
  numastat(0, 0);
  numastat(1, 5);
  write("/sys/devices/system/node/node1/meminfo",
        "Node 1 MemTotal:  9 kB\nNode 1 MemFree:  7 kB\nNode 1 FilePages:  2 kB");
  sensor->read(0);
  numastat(1, 45);
  const auto values = sensor->read(4);
  EXPECT_EQ(value(values, "numa_misses_per_s_node0"), 0);
  EXPECT_EQ(value(values, "numa_misses_per_s_node1"), 10);
  EXPECT_EQ(value(values, "memory_free_bytes_node1"), 7 * 1024);
  EXPECT_EQ(value(values, "page_cache_bytes_node1"), 2 * 1024);
  EXPECT_THAT(reason(values, "memory_free_bytes_node0"), HasSubstr("No such file"));
}

// "17 (post gres) S 1 …": the fields of proc(5) from the state on.
std::string stat_line(int pid, char state, int parent, int ticks) {
  return std::to_string(pid) + " (post) gres) " + state + " " + std::to_string(parent) +
         " 0 0 0 0 0 0 0 0 0 " + std::to_string(ticks) + " 0 0 0 20";
}

class ProcessSensor : public Sensors {
 protected:
  ProcessSensor() {
    target_.processes = {{"server", 17, {0}, true}, {"clients", 30, {1}}};
    process(17, 'S', 1, 100);
    process(18, 'S', 17, 0);  // a backend
    process(19, 'R', 18, 0);  // of a backend's
    process(30, 'S', 1, 0);
    process(40, 'R', 1, 0);  // somebody else's
    write("/proc/17/statm", "100 50 40");
    write("/proc/18/statm", "100 30 10");
    write("/proc/30/statm", "100 5 1");
    write_stat("0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0");
  }
  void process(int pid, char state, int parent, int ticks) {
    write("/proc/" + std::to_string(pid) + "/stat", stat_line(pid, state, parent, ticks));
  }
  const double page_ = static_cast<double>(::sysconf(_SC_PAGESIZE));
  const int second_ = static_cast<int>(::sysconf(_SC_CLK_TCK));  ///< of ticks
};

TEST_F(ProcessSensor, TellsTheServersTimeWithItsDescendantsFromTheClientsAndFromOthers) {
  const auto sensor = make_process_sensor(target_);
  sensor->read(0);
  process(17, 'S', 1, 100 + second_ / 10);
  process(19, 'R', 18, second_ / 2);
  process(30, 'S', 1, second_ / 4);
  process(40, 'R', 1, 5 * second_);
  const std::string second = std::to_string(second_);
  // Of both CPUs two seconds went by in which 1.85 were used: 0.6 by the server, 0.25 by clients.
  write_stat("0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0",
             std::to_string(185 * second_ / 100) + " 0 0 " + std::to_string(15 * second_ / 100) +
                 " 0 0 0 0");
  const auto values = sensor->read(1);
  EXPECT_NEAR(value(values, "server_cpu_pct"), 60, 0.5) << "of its one CPU";
  EXPECT_NEAR(value(values, "client_cpu_pct"), 25, 0.5);
  EXPECT_NEAR(value(values, "other_cpu_pct"), 50, 10) << "less what this test took itself";
  EXPECT_EQ(value(values, "server_processes"), 3);
  EXPECT_EQ(value(values, "server_rss_bytes"), 50 * page_);
  EXPECT_EQ(value(values, "server_private_bytes"), 30 * page_);
  EXPECT_EQ(value(values, "client_private_bytes"), 4 * page_);
  EXPECT_EQ(value(values, "stopped_processes"), 0);
  EXPECT_THAT(reason(values, "server_pss_bytes"), HasSubstr("monitors: {pss: true}"));
}

TEST_F(ProcessSensor, SeesAStoppedBackend) {
  process(19, 'T', 18, 0);
  EXPECT_EQ(value(make_process_sensor(target_)->read(0), "stopped_processes"), 1);
  process(19, 'S', 18, 0);
  process(40, 'T', 1, 0);
  EXPECT_EQ(value(make_process_sensor(target_)->read(0), "stopped_processes"), 0)
      << "somebody else's";
}

TEST_F(ProcessSensor, AddsUpProportionalSetsWhereAsked) {
  target_.pss = true;
  write("/proc/17/smaps_rollup",
        "5500-7ffc ---p [rollup]\nRss:  900 kB\nPss:  100 kB\nPss_Anon: 1 kB");
  write("/proc/18/smaps_rollup",
        "5500-7ffc ---p [rollup]\nRss:  900 kB\nPss:  20 kB\nPss_Anon: 1 kB");
  EXPECT_EQ(value(make_process_sensor(target_)->read(0), "server_pss_bytes"), 120 * 1024);
}

// The kernel's own truth, with a process of ours in the state that the sensor has to see.
TEST(SensorsOfThisHost, AClientThatIsStoppedBreaksItsRule) {
  Worker worker = Worker::fork({}, [] {
    for (;;) ::pause();
    return 0;
  });
  MonitorTarget target;
  target.processes = {{"clients", worker.pid(), {}}};
  ASSERT_EQ(::kill(worker.pid(), SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(worker.pid(), &status, WUNTRACED), worker.pid());
  ASSERT_TRUE(WIFSTOPPED(status));
  const auto values = make_process_sensor(target)->read(0);
  const MetricValue* stopped = find_value(values, "stopped_processes");
  ASSERT_NE(stopped, nullptr);
  EXPECT_EQ(stopped->value, 1);
}

TEST(SensorsOfThisHost, ADiskThatFillsBreaksItsRule) {
  const TemporaryDirectory directory;
  if (::mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "may not mount a filesystem to fill";
  }
  MonitorTarget target;
  target.data_path = directory.path();
  const auto sensor = make_disk_sensor(target);
  const auto free_pct = [&] { return *find_value(sensor->read(0), "disk_free_pct")->value; };
  EXPECT_GT(free_pct(), 90);
  std::ofstream(directory.path() + "/filler") << std::string(2 << 20, 'x');
  EXPECT_LT(free_pct(), 1);
  ::umount(directory.path().c_str());
}

TEST(SensorsOfThisHost, AllTogetherAgreeWithTheKernelAndKnowTheirOwnCost) {
  Worker busy = Worker::fork({}, [] {
    for (std::atomic<int> spins{0};; ++spins) {
    }
    return 0;
  });
  MonitorTarget target;
  target.processes = {{"clients", busy.pid(), {}}};
  target.has_server = false;
  for (int cpu = 0; cpu < ::sysconf(_SC_NPROCESSORS_ONLN); ++cpu) {
    target.cpus.insert(cpu);
    target.node_of_cpu[cpu] = 0;
  }
  target.nodes = {0};
  const auto monitor = make_monitor(target);
  // A look a tenth of a second, until the busy process had a CPU.
  for (int look = 1; look <= 600; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    monitor->look(0.1 * look);
    if (read_process_stat(busy.pid())->own_ticks > 5) break;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  monitor->look(61);
  const MonitorRecord record = monitor->finish();
  const MetricValue* own = find_value(record.values, "monitor_cpu_pct");
  ASSERT_NE(own, nullptr);
  EXPECT_GT(*own->value, 0);
  EXPECT_GT(*find_value(record.values, "client_cpu_pct")->value, 0) << "it never sleeps";
  EXPECT_GT(*find_value(record.values, "cpu_busy_pct")->value, 0);
  EXPECT_THAT(record.values, Not(Contains(testing::Field(&MetricValue::metric, ""))));
  EXPECT_THAT(find_value(record.values, "perf_cycles_per_s")->reason, HasSubstr("not asked for"));
}

class FakeSensor : public Sensor {
 public:
  explicit FakeSensor(std::vector<double> values) : values_(std::move(values)) {}
  std::vector<MetricValue> read(double) override {
    const double value = values_.at(next_++);
    if (value < 0) return {MetricValue::absent("run_queue", "not this time")};
    return {MetricValue::of("run_queue", value), MetricValue::of("oom_kills", value),
            MetricValue::of("temperature_c", value), MetricValue::of("disk_free_pct", value),
            MetricValue::absent("numa_hits_per_s", "never")};
  }

 private:
  std::vector<double> values_;
  std::size_t next_ = 0;
};

TEST(Monitor, FoldsTheSecondsOfEachMetricInItsOwnWay) {
  std::vector<std::unique_ptr<Sensor>> sensors;
  sensors.push_back(std::make_unique<FakeSensor>(std::vector<double>{4, 1, -1, 7}));
  Monitor monitor(std::move(sensors));
  for (const double t : {1.0, 2.0, 3.0}) monitor.look(t);
  const MonitorRecord record = monitor.finish();
  EXPECT_EQ(find_value(record.values, "run_queue")->value, 4) << "mean";
  EXPECT_EQ(find_value(record.values, "oom_kills")->value, 12) << "sum";
  EXPECT_EQ(find_value(record.values, "temperature_c")->value, 7) << "maximum";
  EXPECT_EQ(find_value(record.values, "disk_free_pct")->value, 1) << "minimum";
  EXPECT_EQ(find_value(record.values, "numa_hits_per_s")->reason, "never");
  const auto queue = std::ranges::count(record.samples, "run_queue", &SampleRecord::metric);
  EXPECT_EQ(queue, 3) << "a second without a value is no sample";
}

TEST(Monitor, HasNothingToSayOfAWindowThatEndedBeforeItsFirstSecond) {
  std::vector<std::unique_ptr<Sensor>> sensors;
  sensors.push_back(std::make_unique<FakeSensor>(std::vector<double>{4}));
  Monitor monitor(std::move(sensors));
  const MonitorRecord record = monitor.finish();
  EXPECT_THAT(record.values, IsEmpty());
  EXPECT_THAT(record.samples, IsEmpty());
}

TEST(QuietCorner, LeavesTheMeasuredCpusAloneWhereThereAreOthers) {
  const auto mine = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof(set), &set);
    IdSet cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.insert(cpu);
    }
    return cpus;
  };
  const IdSet before = mine();
  if (before.size() < 2) GTEST_SKIP() << "one CPU has no corner";
  const int measured = *before.begin();
  {
    const QuietCorner corner(before, {measured});
    EXPECT_FALSE(mine().contains(measured));
  }
  EXPECT_EQ(mine(), before);
  const QuietCorner nowhere(before, before);
  EXPECT_EQ(mine(), before) << "no CPU is left over: it stays where it may be";
}

/// A counter that reads what the test says.
FileDescriptor counter_of(std::uint64_t value, std::uint64_t enabled, std::uint64_t running) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const std::uint64_t text[] = {value, enabled, running};
  EXPECT_EQ(::write(ends[1], text, sizeof(text)), static_cast<ssize_t>(sizeof(text)));
  EXPECT_EQ(::write(ends[1], text, sizeof(text)), static_cast<ssize_t>(sizeof(text)));
  ::close(ends[1]);
  return FileDescriptor(ends[0]);
}

TEST_F(ProcessSensor, HardwareCountersAreOfTheServerAndScaledForTheTimeTheyRan) {
  target_.perf = true;
  std::vector<pid_t> asked;
  const auto sensor = make_perf_sensor(target_, [&](const perf_event_attr& event, pid_t pid) {
    if (event.type != PERF_TYPE_HARDWARE) {
      errno = ENOENT;
      return FileDescriptor(-1);
    }
    asked.push_back(pid);
    // Half of the time another event had the register.
    return counter_of(event.config == PERF_COUNT_HW_INSTRUCTIONS ? 300 : 100, 20, 10);
  });
  const auto values = sensor->read(2);
  EXPECT_THAT(asked, testing::UnorderedElementsAre(17, 17, 18, 18, 19, 19)) << "not the client's";
  EXPECT_EQ(value(values, "perf_cycles_per_s"), 300) << "100 × 2 of three processes in 2 s";
  EXPECT_EQ(value(values, "perf_ipc"), 3);
  EXPECT_EQ(reason(values, "perf_node_misses_per_s"),
            "perf_event_open: No such file or directory (this CPU or virtual machine has no such "
            "counter)");
}

TEST_F(ProcessSensor, ACounterThatNeverRanIsAbsent) {
  target_.perf = true;
  const auto sensor =
      make_perf_sensor(target_, [](const perf_event_attr&, pid_t) { return counter_of(0, 20, 0); });
  EXPECT_EQ(reason(sensor->read(1), "perf_cycles_per_s"), "the counter never ran");
}

// The kernel's page faults of a process that has some; hardware counters only where there are any.
TEST(SensorsOfThisHost, PerfCountsARealProcess) {
  Worker worker = Worker::fork({}, [] {
    for (;;) {
      std::vector<char> touched(8 << 20, 1);
      ::usleep(1000);
      if (std::accumulate(touched.begin(), touched.end(), 0) == 0) return 1;
    }
  });
  MonitorTarget target;
  target.perf = true;
  target.processes = {{"server", worker.pid(), {}}};
  const auto sensor = make_perf_sensor(target);
  sensor->read(0);
  std::vector<MetricValue> values;
  const MetricValue* faults = nullptr;
  for (int look = 0; look < 600; ++look) {  // until it had a CPU
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    values = sensor->read(0.1);
    faults = find_value(values, "perf_page_faults_per_s");
    ASSERT_NE(faults, nullptr);
    if (!faults->value) GTEST_SKIP() << faults->reason;
    if (*faults->value > 0) break;
  }
  EXPECT_GT(*faults->value, 0);
  const MetricValue* cycles = find_value(values, "perf_cycles_per_s");
  ASSERT_NE(cycles, nullptr);
  EXPECT_TRUE(cycles->value || !cycles->reason.empty());
}

}  // namespace
}  // namespace numabench
