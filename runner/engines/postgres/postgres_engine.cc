#include "runner/engines/postgres/postgres_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "hosts/error.h"
#include "reports/digest.h"
#include "runner/engines/postgres/data_root.h"
#include "runner/engines/postgres/dataset_store.h"
#include "runner/engines/postgres/pgbench.h"
#include "runner/engines/postgres/postgres_run.h"
#include "runner/engines/postgres/server_settings.h"
#include "workloads/sql_workload.h"

namespace numabench {
namespace {

// Seen on a 2-core virtual machine; for the estimate only.
constexpr double kStartStopSeconds = 1.5;  // with waiting for idle clients and the counters' flush
constexpr double kFillBytesPerSecond = 500e6;
constexpr double kLoadBytesPerSecond = 60e6;
constexpr std::uint64_t kServerBytes = 200ull << 20;  // beside the pool
constexpr std::uint64_t kBackendBytes = 5ull << 20;

int clients_of(const SqlWorkload& workload) {
  int clients = 0;
  for (const SqlRole& role : workload.roles) clients += role.clients;
  return clients;
}

class PostgresEngine : public Engine {
 public:
  std::string_view name() const override { return "postgres"; }
  std::string refuses(const CellSetup& setup) const override;
  ResourceEstimate estimate(const CellSetup& setup) const override;
  std::string fingerprint(const Experiment& experiment, const Arm& arm) const override;
  std::vector<ArmBuild> build_arms(const Experiment& experiment, const std::vector<Arm>& arms,
                                   const BuildObserver& observer) override;
  void prepare(const CellSetup& setup, std::uint64_t run_seed) override;
  void start() override {
    with_server([](PostgresRun& run) { run.start(); });
  }
  void reset_counters() override {
    with_server([](PostgresRun& run) { run.begin_window(); });
  }
  EngineProgress progress() const override {
    return with_server([](PostgresRun& run) { return run.progress(); });
  }
  std::vector<Breach> look() override;
  void check_alive() override {
    with_server([](PostgresRun& run) { run.check_alive(); });
  }
  std::vector<RoleProcess> processes() const override { return run().processes(); }
  std::string data_path() const override { return run().data_path(); }
  bool has_server() const override { return true; }
  bool another_pass() override {
    return with_server([](PostgresRun& run) { return run.end_window(); });
  }
  EngineStats stats() override;
  EngineEvidence evidence() const override;
  void stop() override;

 private:
  /// Whatever fails because the server crashed is told as that.
  template <typename Work>
  std::invoke_result_t<Work, PostgresRun&> with_server(const Work& work) const {
    try {
      return work(run());
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kRun) run().look_for_crash();
      throw;
    }
  }

  PostgresRun& run() const;
  const ArmBuild& build_of(const Arm& arm) const;
  void choose_pgbench(const Experiment& experiment);
  void append_build_warnings(EngineStats& stats) const;

  std::optional<User> user_;  ///< whom the servers run as; known once something is to be run
  std::string root_;
  std::map<std::string, ArmBuild> builds_;  ///< by the arm's name
  PgbenchTarget pgbench_;
  std::string pgbench_identity_;
  mutable std::map<std::string, std::string> fingerprints_;  ///< by the arm's name

  std::optional<CellSetup> setup_;
  std::unique_ptr<DatasetStore> datasets_;
  SqlWorkload workload_;
  std::optional<LoadedDataset> dataset_;
  std::unique_ptr<PostgresRun> run_;
};

std::string PostgresEngine::refuses(const CellSetup& setup) const {
  if (setup.arm.source.kind == ArmSource::Kind::kNone) {
    return "the arm has no `source`: git, tarball, debian or bindir";
  }
  if (setup.regime == Regime::kNone) {
    return "regime 'none' is of the embedded engine; use resident, page-cache or real-io";
  }
  if (setup.regime == Regime::kResident && setup.size.ratio > 1) {
    return "a working set larger than the pool is not resident; use page-cache or real-io";
  }
  for (const char* role : {"background_writer", "loader"}) {
    const auto own = setup.placement.roles.find(role);
    if (own == setup.placement.roles.end() || own->second.memory == MemoryPolicy::kDefault)
      continue;
    return fmt::format(
        "placement '{}': the {} of a server is forked by it and has its memory policy; only its "
        "CPUs can be placed",
        setup.placement.name, role);
  }
  return settings_refusal(setup, setup.workload.sql(setup.size, setup.clients));
}

ResourceEstimate PostgresEngine::estimate(const CellSetup& setup) const {
  const SqlWorkload workload = setup.workload.sql(setup.size, setup.clients);
  const std::uint64_t data_bytes = projected_bytes(workload);
  const int passes = setup.experiment.counters == Counters::kCountedBuild ? 2 : 1;
  ResourceEstimate estimate;
  estimate.memory_bytes = setup.pool_bytes + kServerBytes +
                          kBackendBytes * static_cast<std::uint64_t>(clients_of(workload));
  estimate.disk_bytes = data_bytes;
  estimate.run_disk_bytes = workload.writes ? data_bytes : 0;
  estimate.disk_path = data_root_path(setup.experiment.data_directory);
  estimate.dataset = dataset_description(workload);
  estimate.dataset_seconds = static_cast<double>(data_bytes) / kLoadBytesPerSecond;
  estimate.passes = passes;
  estimate.setup_seconds =
      passes * (kStartStopSeconds + static_cast<double>(setup.pool_bytes) / kFillBytesPerSecond);
  return estimate;
}

std::string PostgresEngine::fingerprint(const Experiment& experiment, const Arm& arm) const {
  const auto known = fingerprints_.find(arm.name);
  if (known != fingerprints_.end()) return known->second;
  const ArmBuilder builder(data_root_path(experiment.data_directory), experiment.build);
  return fingerprints_[arm.name] = builder.inputs(arm).key;
}

std::vector<ArmBuild> PostgresEngine::build_arms(const Experiment& experiment,
                                                 const std::vector<Arm>& arms,
                                                 const BuildObserver& observer) {
  root_ = data_root_path(experiment.data_directory);
  user_ = server_user(experiment.server_user);
  prepare_data_root(root_, *user_);
  const ArmBuilder builder(root_, experiment.build);
  std::vector<ArmBuild> built;
  for (const Arm& arm : arms) {
    built.push_back(builder.build(arm, observer));
    builds_[arm.name] = built.back();
  }
  datasets_ = std::make_unique<DatasetStore>(root_, *user_);
  return built;
}

/// The same program for all arms: what the config names, else the baseline arm's, which may have
/// no cells in this run and is then built for it.
void PostgresEngine::choose_pgbench(const Experiment& experiment) {
  if (!pgbench_.program.empty()) return;
  PgbenchTarget chosen;
  if (!experiment.pgbench.program.empty()) {
    chosen.program = experiment.pgbench.program;
  } else {
    const Arm& baseline = experiment.arm(experiment.baseline);
    if (!builds_.contains(baseline.name)) {
      builds_[baseline.name] = ArmBuilder(root_, experiment.build)
                                   .build(baseline, [](const std::string&, const std::string&) {});
    }
    const ArmBuild& build = build_of(baseline);
    chosen.program = build.bindir + "/pgbench";
    chosen.library_directory = build.library_directory;
  }
  pgbench_identity_ = pgbench_identity(chosen.program, chosen.library_directory);
  pgbench_ = chosen;
}

const ArmBuild& PostgresEngine::build_of(const Arm& arm) const {
  const auto found = builds_.find(arm.name);
  if (found == builds_.end()) {
    throw Error(ErrorKind::kInternal, "arm '" + arm.name + "' was not built");
  }
  if (!found->second.failure.empty()) {
    throw Error(ErrorKind::kRun,
                fmt::format("arm '{}' could not be built: {}", arm.name, found->second.failure));
  }
  return found->second;
}

void PostgresEngine::prepare(const CellSetup& setup, std::uint64_t run_seed) {
  stop();
  const ArmBuild& build = build_of(setup.arm);
  choose_pgbench(setup.experiment);
  setup_.emplace(setup);
  workload_ = setup.workload.sql(setup.size, setup.clients);
  const std::string refusal = pgbench_refuses(
      pgbench_major_version(pgbench_.program, pgbench_.library_directory), workload_);
  if (!refusal.empty()) {
    throw Error(ErrorKind::kRun, refusal, "name another pgbench as `pgbench: {program: …}`");
  }
  dataset_ = datasets_->acquire(build, workload_, setup.on_stage);
  run_ = std::make_unique<PostgresRun>(
      RunContext{*setup_, build, workload_, *dataset_, pgbench_, *user_, root_}, run_seed);
}

EngineStats PostgresEngine::stats() {
  EngineStats stats = run().stats();
  stats.artifacts.push_back({"pgbench-identity.txt", pgbench_identity_ + "\n"});
  append_build_warnings(stats);
  return stats;
}

/// What differs between this arm's build and the baseline's is not the patch alone.
void PostgresEngine::append_build_warnings(EngineStats& stats) const {
  const Experiment& experiment = setup_->experiment;
  const auto baseline = builds_.find(experiment.baseline);
  if (baseline == builds_.end() || setup_->arm.name == experiment.baseline) return;
  for (const std::string& difference :
       flag_differences({baseline->second, builds_.at(setup_->arm.name)})) {
    stats.events.push_back({"warning", difference});
  }
}

EngineEvidence PostgresEngine::evidence() const {
  return run_ ? run_->evidence() : EngineEvidence{};
}

void PostgresEngine::stop() {
  run_.reset();
  if (dataset_) datasets_->release(*dataset_);
  dataset_.reset();
}

/// What is seen is part of stats().
std::vector<Breach> PostgresEngine::look() {
  run().watch_placements();
  return {};
}

PostgresRun& PostgresEngine::run() const {
  if (!run_) throw Error(ErrorKind::kInternal, "the PostgreSQL engine has not been prepared");
  return *run_;
}

}  // namespace

std::unique_ptr<Engine> make_postgres_engine() { return std::make_unique<PostgresEngine>(); }

}  // namespace numabench
