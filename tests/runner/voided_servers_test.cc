// Runs on a real PostgreSQL server that something real happens to in the window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>

#include "hosts/process_stats.h"
#include "runner/config/load.h"
#include "tests/hosts/kernel_view.h"
#include "tests/runner/engines/postgres/installed_server.h"
#include "tests/runner/provoked_run.h"

namespace numabench {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

/// The processes of a server whose title has `text` in it.
std::vector<pid_t> server_processes(pid_t postmaster, const std::string& text) {
  std::vector<pid_t> found;
  for (const pid_t child : children_of(postmaster)) {
    if (proc_file(child, "cmdline").find(text) != std::string::npos) found.push_back(child);
  }
  return found;
}

/// Signals a process of the server, once, a second after the window has begun.
class Blow : public Sensor {
 public:
  Blow(pid_t postmaster, std::string title, int signal)
      : postmaster_(postmaster), title_(std::move(title)), signal_(signal) {}

  std::vector<MetricValue> read(double seconds) override {
    if (seconds == 0 || std::exchange(done_, true)) return {MetricValue::of("oom_kills", 0)};
    EXPECT_TRUE(becomes_true([&] { return server_processes(postmaster_, "[local]").size() == 3; }))
        << "two clients and numabench itself";
    const pid_t victim =
        title_.empty() ? postmaster_ : server_processes(postmaster_, title_).back();
    EXPECT_EQ(::kill(victim, signal_), 0);
    return {MetricValue::of("oom_kills", 0)};
  }

 private:
  pid_t postmaster_;
  std::string title_;
  int signal_;
  bool done_ = false;
};

class VoidedServers : public testing::Test {
 protected:
  static void SetUpTestSuite() { directory_ = new ServerDirectory; }
  static void TearDownTestSuite() { delete directory_; }

  /// `title` is of the process that gets the signal; empty: the postmaster.
  static RunRecord run(const std::string& title, int signal) {
    const Host host{"local", Topology::of_this_host(), {"test-host", {}}};
    const Experiment experiment =
        load_experiment_text(
            "name: t\nengine: postgres\narms: [{name: stock, source: {bindir: " + kInstalledBindir +
                "}}]\nworkloads: zipfian\npools: 16MiB\nratios: 1.15\nclients: 2\nruns: 1\n"
                "counters: none\nhuge_pages: off\nwarmup: 0.1s\nduration: 60s\n"
                "data_directory: " +
                directory_->root() + "/data\n",
            "t.yaml", host.topology)
            .experiment;
    const std::unique_ptr<Engine> engine = make_engine("postgres");
    engine->build_arms(experiment, experiment.arms, [](const auto&, const auto&) {});
    const Plan plan = make_plan(experiment, host, *engine);
    KeepingObserver observer;
    RunLoop loop(
        experiment, host, plan, *engine, system_clock(), observer, [] { return false; },
        [&](const MonitorTarget& target) {
          const auto server =
              std::ranges::find(target.processes, std::string("server"), &RoleProcess::role);
          std::vector<std::unique_ptr<Sensor>> sensors;
          sensors.push_back(std::make_unique<Blow>(server->pid, title, signal));
          return std::make_unique<Monitor>(std::move(sensors));
        });
    loop.execute({0});
    return observer.record;
  }

  static std::string artifact(const RunRecord& record, const std::string& name) {
    const auto found = std::ranges::find(record.artifacts, name, &ArtifactRecord::name);
    return found == record.artifacts.end() ? "not there" : found->bytes;
  }

  inline static ServerDirectory* directory_ = nullptr;
};

TEST_F(VoidedServers, ACheckpointerThatIsKilledVoidsTheRunWithTheReason) {
  const RunRecord record = run("checkpointer", SIGKILL);
  EXPECT_EQ(record.status, RunStatus::kVoid);
  EXPECT_THAT(record.reason,
              MatchesRegex("server_restarted: the server crashed or was stopped: checkpointer "
                           "process \\(PID [0-9]+\\) was terminated by signal 9: Killed; look "
                           "into the run's artifact server.log"));
  EXPECT_LT(record.duration_seconds, 50) << "the rest of the window is not waited for";
  EXPECT_THAT(artifact(record, "server.log"), HasSubstr("was terminated by signal 9"));
  EXPECT_NE(find_value(record.values, "oom_kills"), nullptr) << "what the monitors saw is kept";
  EXPECT_GT(std::ranges::count(record.samples, "tps", &SampleRecord::metric), 0);
}

// pgbench loses its connection before the server has written why.
TEST_F(VoidedServers, ABackendThatIsKilledVoidsTheRunForTheServersRestart) {
  const RunRecord record = run("[local]", SIGKILL);
  EXPECT_EQ(record.status, RunStatus::kVoid);
  EXPECT_THAT(record.reason,
              AllOf(StartsWith("server_restarted: the server crashed or was stopped: server "
                               "process (PID "),
                    HasSubstr("was terminated by signal 9")));
}

TEST_F(VoidedServers, AServerThatSomebodyStopsVoidsTheRun) {
  const RunRecord record = run("", SIGINT);
  EXPECT_EQ(record.status, RunStatus::kVoid);
  EXPECT_THAT(record.reason, StartsWith("server_restarted: the server crashed or was stopped: "));
  EXPECT_THAT(record.reason, HasSubstr("received fast shutdown request"));
}

// SIGTERM is what pg_terminate_backend() sends.
TEST_F(VoidedServers, AClientWhoseBackendIsTerminatedVoidsTheRun) {
  const RunRecord record = run("[local]", SIGTERM);
  EXPECT_EQ(record.status, RunStatus::kVoid);
  // A client that was about to send a query finds the connection gone before it reads why.
  EXPECT_THAT(record.reason,
              AllOf(StartsWith("aborted_clients: pgbench of the clients: client "),
                    AnyOf(HasSubstr("terminating connection due to administrator command"),
                          HasSubstr("perhaps the backend died while processing")),
                    HasSubstr("; look into the run's artifact server.log")));
  EXPECT_THAT(artifact(record, "pgbench-clients.txt"), HasSubstr(" aborted in "));
  EXPECT_THAT(artifact(record, "server.log"), HasSubstr("administrator command"));
}

}  // namespace
}  // namespace numabench
