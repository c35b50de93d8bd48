// Runs of the real embedded engine that something real happens to: what it does to their status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include "hosts/process.h"
#include "hosts/process_stats.h"
#include "runner/config/load.h"
#include "runner/measure/sensors/sensors.h"
#include "runner/run_loop.h"
#include "tests/hosts/temporary_directory.h"
#include "tests/runner/provoked_run.h"

namespace numabench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class VoidedRuns : public testing::Test {
 protected:
  /// One run of a second and a bit; `provoke` is called before each look, `make` makes the sensor
  /// that is to see it, `relent` is called behind it.
  RunRecord run(
      const std::string& more, const std::function<void(const MonitorTarget&)>& provoke,
      std::unique_ptr<Sensor> (*make)(const MonitorTarget&),
      const std::function<void(const MonitorTarget&)>& relent = [](const auto&) {}) {
    const Host host{"local", Topology::of_this_host(), {"test-host", {}}};
    const Experiment experiment =
        load_experiment_text(
            "name: t\narms: [{name: stock}]\nworkloads: zipfian\npools: 8MiB\nratios: 2\n"
            "clients: 2\nruns: 1\nwarmup: 0.1s\nduration: 1.3s\n" +
                more,
            "t.yaml", host.topology)
            .experiment;
    const std::unique_ptr<Engine> engine = make_engine("embedded");
    const Plan plan = make_plan(experiment, host, *engine);
    KeepingObserver observer;
    RunLoop loop(
        experiment, host, plan, *engine, system_clock(), observer, [] { return false; },
        [&](MonitorTarget target) {
          if (!data_path_.empty()) target.data_path = data_path_;
          std::vector<std::unique_ptr<Sensor>> sensors;
          sensors.push_back(std::make_unique<Provoker>([=] { provoke(target); }));
          sensors.push_back(make(target));
          sensors.push_back(std::make_unique<Provoker>([=] { relent(target); }));
          return std::make_unique<Monitor>(std::move(sensors));
        });
    loop.execute({0});
    return observer.record;
  }

  static pid_t a_client(const MonitorTarget& target) {
    for (const RoleProcess& process : target.processes) {
      if (process.role == "clients") return process.pid;
    }
    throw std::runtime_error("no client");
  }

  std::string data_path_;
};

TEST_F(VoidedRuns, AClientThatIsStoppedVoidsTheRun) {
  const RunRecord record = run(
      "",
      [](const MonitorTarget& target) {
        const pid_t client = a_client(target);
        ::kill(client, SIGSTOP);
        while (read_process_stat(client)->state != 'T') ::usleep(1000);
      },
      make_process_sensor, [](const MonitorTarget& target) { ::kill(a_client(target), SIGCONT); });
  EXPECT_EQ(record.status, RunStatus::kVoid);
  EXPECT_THAT(record.reason,
              StartsWith("process_stopped: processes of the run that were stopped (state T): 1"));
  EXPECT_TRUE(find_value(record.values, "tps")->value) << "the numbers are kept";
}

TEST_F(VoidedRuns, AClientThatIsMovedToAnotherCpuVoidsTheRun) {
  const IdSet cpus = Topology::of_this_host().allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "there is no other CPU";
  const std::string placed =
      "placements: [{name: p, clients: {physcpubind: " + std::to_string(*cpus.begin()) + "}}]\n";
  const RunRecord record = run(
      placed,
      [&](const MonitorTarget& target) {
        cpu_set_t other;
        CPU_ZERO(&other);
        CPU_SET(static_cast<std::size_t>(*std::next(cpus.begin())), &other);
        ::sched_setaffinity(a_client(target), sizeof(other), &other);
      },
      make_process_sensor);
  EXPECT_EQ(record.status, RunStatus::kVoid);
  EXPECT_THAT(record.reason, StartsWith("placement_escaped: "));
}

TEST_F(VoidedRuns, AClientThatIsKilledFailsTheRun) {
  const RunRecord record = run(
      "", [](const MonitorTarget& target) { ::kill(a_client(target), SIGKILL); },
      make_process_sensor);
  EXPECT_EQ(record.status, RunStatus::kFailed);
  EXPECT_THAT(record.reason, HasSubstr("killed by signal 9"));
}

TEST_F(VoidedRuns, ADiskThatFillsVoidsTheRun) {
  const TemporaryDirectory directory;
  if (::mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "may not mount a filesystem to fill";
  }
  data_path_ = directory.path();
  const RunRecord record = run(
      "",
      [&](const MonitorTarget&) {
        std::ofstream(data_path_ + "/filler") << std::string(2 << 20, 'x');
      },
      make_disk_sensor);
  ::umount(directory.path().c_str());
  EXPECT_EQ(record.status, RunStatus::kVoid);
  EXPECT_THAT(record.reason, AllOf(StartsWith("disk_full: free space of the data's filesystem: "),
                                   HasSubstr("below the limit of 1.0 %")));
}

TEST_F(VoidedRuns, OthersWorkVoidsTheRunWhereAConfigInsists) {
  const Worker busy = Worker::fork({}, [] {
    for (std::atomic<int> spins{0};; ++spins) {
    }
    return 0;
  });
  const auto nothing = [](const MonitorTarget&) {};
  const RunRecord strict = run("void: {other_load: void 1%}\n", nothing, make_process_sensor);
  EXPECT_EQ(strict.status, RunStatus::kVoid);
  EXPECT_THAT(strict.reason, StartsWith("other_load: share of all CPUs that other processes used"));
  const RunRecord mild = run("void: {other_load: 1%}\n", nothing, make_process_sensor);
  EXPECT_EQ(mild.status, RunStatus::kOk) << "a window of a second is for looking: " << mild.reason;
}

}  // namespace
}  // namespace numabench
