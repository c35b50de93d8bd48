// Every process of a run on a real server is where its role has to be, by /proc; one that leaves is
// noticed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "hosts/process_stats.h"
#include "runner/engines/engine.h"
#include "runner/engines/pool_memory.h"
#include "runner/engines/postgres/shared_memory.h"
#include "tests/hosts/kernel_view.h"
#include "tests/runner/engines/postgres/installed_server.h"

namespace numabench {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kPoolPages = 2048;

std::string cpus_of(pid_t pid) { return status_value(pid, "Cpus_allowed_list"); }

/// The processes below `parent` whose command line has `text` in it.
std::vector<pid_t> children_with(pid_t parent, const std::string& text) {
  std::vector<pid_t> found;
  for (const pid_t child : children_of(parent)) {
    if (proc_file(child, "cmdline").find(text) != std::string::npos) found.push_back(child);
  }
  return found;
}

/// A server on the first CPU and everybody else on the last; in its window.
class PostgresPlacement : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new ServerDirectory;
    engine_ = make_engine("postgres").release();
    experiment_ = new Experiment;
    experiment_->engine = "postgres";
    experiment_->data_directory = directory_->root() + "/data";
    experiment_->counters = Counters::kNone;
    experiment_->huge_pages = SharedRegion::HugePages::kOff;
    experiment_->warmup = {0, Span::Unit::kSeconds};
    Arm arm;
    arm.name = experiment_->baseline = "stock";
    arm.source = {ArmSource::Kind::kBindir, kInstalledBindir, ""};
    experiment_->arms = {arm};
    engine_->build_arms(*experiment_, experiment_->arms, [](const auto&, const auto&) {});
  }
  static void TearDownTestSuite() {
    delete engine_;
    delete experiment_;
    delete directory_;
  }

  void SetUp() override {
    if (allowed_.size() < 2) GTEST_SKIP() << "one CPU: there is nowhere to go";
    const Placement elsewhere{{last_}, MemoryPolicy::kDefault, {}};
    placement_.roles = {{"server", {{first_}, MemoryPolicy::kDefault, {}, false, true}},
                        {"clients", elsewhere},
                        {"background_writer", elsewhere},
                        {"loader", elsewhere}};
  }
  void TearDown() override { engine_->stop(); }

  /// Until the window has begun.
  void start() {
    engine_->prepare(setup_, 1);
    engine_->start();
    engine_->reset_counters();
    engine_->look();
    postmaster_ = children_with(::getpid(), "/postgres").at(0);
    pgbench_ = children_with(::getpid(), "pgbench").at(0);
    ASSERT_TRUE(becomes_true([&] { return children_with(postmaster_, "[local]").size() == 3; }))
        << "two clients and the monitor";
  }

  EngineStats stats() {
    engine_->look();
    engine_->another_pass();
    return engine_->stats();
  }

  inline static ServerDirectory* directory_ = nullptr;
  inline static Engine* engine_ = nullptr;
  inline static Experiment* experiment_ = nullptr;

  Host host_{.provider = "local", .topology = Topology::of_this_host(), .snapshot = {}};
  const IdSet allowed_ = host_.topology.allowed_cpus();
  const int first_ = *allowed_.begin();
  const int last_ = *allowed_.rbegin();
  std::unique_ptr<Workload> workload_ = make_workload("zipfian", {});
  PlacementConfig placement_{.name = "apart", .spreads = {}, .roles = {}};
  CellSetup setup_{*experiment_,      host_,      experiment_->arms.front(),
                   *workload_,        placement_, {kPoolPages, 1.15},
                   kPoolPages * 8192, 2,          Regime::kPageCache};
  pid_t postmaster_ = 0;
  pid_t pgbench_ = 0;
};

TEST_F(PostgresPlacement, EachProcessIsWhereItsRoleHasToBe) {
  start();
  EXPECT_EQ(cpus_of(postmaster_), std::to_string(first_));
  for (const pid_t backend : children_with(postmaster_, "[local]")) {
    EXPECT_EQ(cpus_of(backend), std::to_string(first_)) << proc_file(backend, "cmdline");
  }
  const auto writers = children_with(postmaster_, "background writer");
  ASSERT_EQ(writers.size(), 1u);
  EXPECT_EQ(cpus_of(writers[0]), std::to_string(last_));
  EXPECT_EQ(cpus_of(pgbench_), std::to_string(last_));
  const EngineStats measured = stats();
  EXPECT_THAT(measured.breaches, IsEmpty());
  EXPECT_THAT(measured.placement_proofs, Each(Field(&PlacementProofRecord::differs, "")));
  std::map<std::string, int> processes;
  for (const PlacementProofRecord& proof : measured.placement_proofs) {
    ++processes[proof.role];
    const int cpu = proof.role == "server" ? first_ : last_;
    EXPECT_THAT(proof.expected, HasSubstr(fmt::format("cpus {}", cpu)));
    EXPECT_THAT(proof.observed, HasSubstr(fmt::format("cpus {}", cpu)));
  }
  EXPECT_GE(processes["server"], 6);
  EXPECT_EQ(processes["background_writer"], 1);
  EXPECT_EQ(processes["clients"], 1);
  // It was touched, all of it, before it was filled.
  std::uint64_t bytes = 0;
  for (const PoolMemoryRecord& record : measured.pool_memory) {
    if (record.moment == PoolMemoryRecord::Moment::kBefore)
      bytes += record.pages * record.page_bytes;
  }
  if (proc_file(::getpid(), "numa_maps").empty()) return;
  EXPECT_GE(bytes, kPoolPages * 8192);
}

TEST_F(PostgresPlacement, PgbenchThatLeftVoidsTheRunThoughItCameBack) {
  start();
  move_to_cpus(pgbench_, allowed_);
  engine_->look();
  move_to_cpus(pgbench_, {last_});
  const EngineStats measured = stats();
  ASSERT_EQ(measured.breaches.size(), 1u);
  EXPECT_EQ(measured.breaches[0].rule, "placement_escaped");
  EXPECT_EQ(measured.breaches[0].what, fmt::format("clients (pid {}) runs on CPUs {} instead of {}",
                                                   pgbench_, format_id_list(allowed_), last_));
}

TEST_F(PostgresPlacement, ABackendThatLeftVoidsTheRun) {
  start();
  const pid_t backend = children_with(postmaster_, "[local]").back();
  move_to_cpus(backend, {last_});
  engine_->look();
  move_to_cpus(backend, {first_});
  const EngineStats measured = stats();
  ASSERT_EQ(measured.breaches.size(), 1u);
  EXPECT_EQ(measured.breaches[0].what,
            fmt::format("server (pid {}) runs on CPUs {} instead of {}", backend, last_, first_));
}

// A thread that is never without work is one CPU's worth, however many CPUs it may choose from.
TEST_F(PostgresPlacement, ClientsAreMeasuredAgainstTheThreadsThatTheyHave) {
  placement_.roles.erase("clients");
  experiment_->pgbench.jobs = 1;
  start();
  ASSERT_TRUE(becomes_true([&] { return engine_->progress().accesses > 0; }));
  const EngineStats measured = stats();
  experiment_->pgbench.jobs = 0;
  const auto value = [&](const char* metric) {
    const MetricValue* found = find_value(measured.values, metric);
    return found == nullptr ? -1 : found->value.value_or(-1);
  };
  ASSERT_GT(value("client_cpu_s"), 0);
  EXPECT_NEAR(value("client_cpu_pct"), 100 * value("client_cpu_s") / value("window_s"), 1e-6);
}

class SharedMemory : public WithDataDirectory {};

TEST_F(SharedMemory, IsTouchedFromOutside) {
  ServerOptions large = options();
  large.settings["shared_buffers"] = "64MB";
  const Server server = Server::start(large);
  const auto bytes = [&] {
    std::uint64_t sum = 0;
    for (const auto& record :
         pool_memory(main_shared_memory(server.pid()), PoolMemoryRecord::Moment::kAfter)) {
      sum += record.pages * record.page_bytes;
    }
    return sum;
  };
  if (bytes() == 0) GTEST_SKIP() << "the kernel does not tell";
  EXPECT_LT(bytes(), 64u << 20);
  touch_shared_memory(server.pid(), {});
  EXPECT_GE(bytes(), 64u << 20);
}

}  // namespace
}  // namespace numabench
