#include "runner/engines/postgres/postgres_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

#include "hosts/child.h"
#include "hosts/error.h"
#include "hosts/files.h"
#include "hosts/page_cache.h"
#include "hosts/process_stats.h"
#include "runner/arms/counted/sweep_layout.h"
#include "runner/engines/client_placement.h"
#include "runner/engines/pool_memory.h"
#include "runner/engines/postgres/client_values.h"
#include "runner/engines/postgres/forked_processes.h"
#include "runner/engines/postgres/pool_fill.h"
#include "runner/engines/postgres/server_settings.h"
#include "runner/engines/postgres/shared_memory.h"
#include "workloads/dataset.h"

namespace numabench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLookInterval{1};
constexpr std::chrono::seconds kPoolLookInterval{2};  // on 15 a look reads every buffer's header
constexpr double kLeaveSeconds = 30;
constexpr std::chrono::seconds kCrashIsLogged{2};  // by then, with much to spare
/// Beyond the longest window: the run loop ends the clients, this only ends forgotten ones.
constexpr double kForgottenSeconds = 3600;
constexpr double kWarmCacheShare = 0.99;
constexpr std::size_t kKeptLogBytes{65536};
/// Numbers of the server's processes that no client has. Autovacuum, background and parallel
/// workers, WAL senders and auxiliary processes come after the clients: 74 on 18, where 32 may be
/// I/O workers, and more when the settings say so.
constexpr int kSpareBackends = 160;

std::uint64_t pool_buffers(const CellSetup& setup) { return setup.pool_bytes / kPageBytes; }

/// Roles that do a fixed amount of work have no warm-up: it would be the work itself.
std::vector<SqlRole> warm_up_roles(const Experiment& experiment, const SqlWorkload& workload) {
  std::vector<SqlRole> roles;
  if (experiment.longest_warmup_seconds() <= 0) return roles;
  std::ranges::copy_if(workload.roles, std::back_inserter(roles),
                       [](const SqlRole& role) { return role.transactions == 0; });
  return roles;
}

double seconds_between(SteadyClock::time_point from, SteadyClock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::uint64_t grown(const std::optional<std::uint64_t>& from,
                    const std::optional<std::uint64_t>& to) {
  return from && to && *to > *from ? *to - *from : 0;
}

}  // namespace

PostgresRun::PostgresRun(const RunContext& context, std::uint64_t seed)
    : context_(context), seed_(seed), directory_(context.root + "/runs", "", context.user) {
  start_server(context.setup.experiment.counters == Counters::kSameBuild &&
               !context.build.counted_postgres.empty());
}

void PostgresRun::prepare_page_cache() {
  const std::string& data = context_.dataset.data_directory;
  if (context_.setup.regime == Regime::kRealIo) {
    context_.setup.on_stage("dropping the page cache");
    drop_page_cache(data);
    return;
  }
  const auto total = static_cast<double>(context_.dataset.bytes);
  if (static_cast<double>(cached_bytes(data)) >= kWarmCacheShare * total) return;
  context_.setup.on_stage("reading the data into the page cache");
  warm_page_cache(data);
}

void PostgresRun::start_server(bool counted) {
  prepare_page_cache();
  counted_ = counted;
  ServerOptions options;
  options.postgres = counted ? context_.build.counted_postgres : context_.build.postgres;
  options.library_directory = context_.build.library_directory;
  options.data_directory = context_.dataset.data_directory;
  options.placement = process_placement(context_.setup.placement, "server");
  options.user = context_.user;
  options.log_path = server_log_path();
  options.settings = definite_settings(options);
  if (counted) {
    create_sweep_counters(std::stoi(options.settings.at("max_connections")) + kSpareBackends);
    options.environment[NUMABENCH_SWEEP_VARIABLE] = sweep_->path();
  }
  context_.setup.on_stage("starting the server");
  server_.emplace(Server::start(options));
  monitor_.emplace(server_->connect());
  records_.emplace_back();
  place_server();
  verify_server(options);
}

/// On a disk the kernel would write the counters back, maybe to the one that is measured.
void PostgresRun::create_sweep_counters(int backends) {
  const std::uint64_t bytes = numabench_sweep_file_bytes(static_cast<std::uint64_t>(backends));
  counters_directory_.emplace(directory_in_memory(bytes, directory_.path()), "numabench-",
                              context_.user);
  sweep_.emplace(SweepCounters::create(counters_directory_->path() + "/sweep-counters", backends,
                                       context_.user.uid, context_.user.gid));
}

std::map<std::string, std::string> PostgresRun::definite_settings(ServerOptions& options) {
  std::map<std::string, std::string> settings = server_settings(context_.setup, context_.workload);
  if (!context_.build.clock_directory.empty()) {
    settings["dynamic_library_path"] = context_.build.clock_directory + ":$libdir";
  }
  if (settings.contains("huge_pages")) return settings;
  options.settings = settings;
  const bool bound = options.placement.memory == MemoryPolicy::kBind;
  settings["huge_pages"] = definite_huge_pages(to_string(context_.setup.experiment.huge_pages),
                                               huge_pages_needed(options),
                                               bound ? options.placement.memory_nodes : IdSet{});
  return settings;
}

/// What was asked for is read back; a difference makes the run void.
void PostgresRun::verify_server(const ServerOptions& options) {
  WindowRecord& record = records_.back();
  const auto breach = [&](const char* rule, const std::string& what) {
    if (!what.empty()) record.breaches.push_back({rule, what});
  };
  breach("settings_differ", settings_mismatch(*monitor_, options.settings));
  const std::string program = program_of(server_->pid());
  const std::string wanted = std::filesystem::canonical(options.postgres).string();
  if (program != wanted) {
    breach("binary_differs", fmt::format("the server runs {}, not the arm's {}", program, wanted));
  }
  const std::string block = monitor_->value("SHOW block_size").value_or("");
  if (block != std::to_string(kPageBytes)) {
    breach("binary_differs",
           fmt::format("the server has blocks of {} bytes, not {}", block, kPageBytes));
  }
  if (counted_ && !sweep_->is_attached()) {
    breach("binary_differs", "the counted server has not mapped its counters");
  }
  for (const std::string& note : server_->notes()) record.events.push_back({"warning", note});
}

void PostgresRun::place_server() {
  const PlacementConfig& config = context_.setup.placement;
  background_writer_ = place_background_writer(*monitor_, config);
  const Placement server = process_placement(config, "server");
  if (!server.touch) return;
  context_.setup.on_stage("touching the shared memory");
  touch_shared_memory(server_->pid(), server);
}

void PostgresRun::start() {
  const SqlWorkload& workload = context_.workload;
  on_loader_cpus(*monitor_, context_.setup.placement, [&] {
    fill_pool(*monitor_, workload.working_set, workload.fill, pool_buffers(context_.setup));
  });
  phase_ = Phase::kWarmup;
  look();
  origin_ = last_;
  const Experiment& experiment = context_.setup.experiment;
  const std::vector<SqlRole> roles = warm_up_roles(experiment, workload);
  if (roles.empty()) return;
  start_clients(roles, {.progress = true, .log = false}, experiment.longest_warmup_seconds(),
                ~seed_);  // not the string of the window
}

void PostgresRun::start_clients(const std::vector<SqlRole>& roles, const PgbenchTelling& telling,
                                double seconds, std::uint64_t seed) {
  PgbenchTarget target = context_.pgbench;
  target.socket_directory = server_->socket_directory();
  target.port = server_->port();
  const std::string own = fmt::format("{}/clients-{}", directory_.path(), ++clients_started_);
  make_directory_for(own, context_.user);
  clients_ =
      std::make_unique<ClientProcesses>(target, context_.setup, roles, telling, context_.user,
                                        seconds + kForgottenSeconds, seed, own);
}

void PostgresRun::begin_window() {
  PgbenchTelling telling;
  if (clients_) {
    clients_->end();
    telling.expected_tps = clients_->newest_tps(Role::Kind::kPoint);
    clients_.reset();
  }
  wait_for_clients_to_leave(*monitor_, kLeaveSeconds);
  begin_record();
  const Experiment& experiment = context_.setup.experiment;
  window_start_ = SteadyClock::now();
  phase_ = Phase::kWindow;
  start_clients(context_.workload.roles, telling, experiment.longest_duration_seconds(), seed_);
}

void PostgresRun::begin_record() {
  WindowRecord& record = records_.back();
  watch_ = PlacementWatch();
  record.counted = counted_;
  record.version_num = monitor_->server_version_num();
  record.hand_reason = context_.build.clock_reason;
  record.pool_memory =
      pool_memory(main_shared_memory(server_->pid()), PoolMemoryRecord::Moment::kBefore);
  record.pool_before = read_pool_contents(*monitor_);
  record.disk = device_of(context_.dataset.data_directory);
  record.disk_before = read_disk_counters(record.disk);
  record.server_cpu_s = -cpu_seconds_of_tree(server_->pid());
  record.settings_before = settings_not_default(*monitor_);
  record.background_before = read_background_work(*monitor_);
  log_events_.emplace(server_log_path());
  reset_server_counters(*monitor_);
  if (sweep_) sweep_->reset();
  record.before = read_server_counters(*monitor_, has_hand());
  origin_ = last_ = record.before;
  looked_at_ = SteadyClock::now();
}

bool PostgresRun::has_hand() const { return context_.build.clock_reason.empty(); }

EngineProgress PostgresRun::progress() {
  EngineProgress progress;
  if (phase_ == Phase::kIdle || phase_ == Phase::kOver) return progress;
  if (SteadyClock::now() - looked_at_ >= kLookInterval) look();
  if (clients_) {
    progress.transactions = clients_->transactions(Role::Kind::kPoint);
    progress.scans = clients_->transactions(Role::Kind::kScan);
    progress.finished = phase_ == Phase::kWindow && clients_->have_finished();
  }
  progress.reads = grown(origin_.database_read, last_.database_read);
  progress.accesses = progress.reads + grown(origin_.database_hit, last_.database_hit);
  progress.laps = static_cast<double>(grown(origin_.hand, last_.hand)) /
                  static_cast<double>(pool_buffers(context_.setup));
  progress.occupancy_pct = occupancy_pct_;
  return progress;
}

/// One look a second at most, however often progress() is called: the window is not to be
/// disturbed.
void PostgresRun::look() {
  looked_at_ = SteadyClock::now();
  last_ = read_server_counters(*monitor_, has_hand());
  if (phase_ == Phase::kWindow) {
    records_.back().waits.sample(*monitor_);
    log_events_->look(seconds_between(window_start_, looked_at_));
  } else if (looked_at_ - looked_at_pool_ >= kPoolLookInterval) {
    looked_at_pool_ = looked_at_;
    const PoolContents contents = read_pool_contents(*monitor_);
    occupancy_pct_ =
        100.0 * static_cast<double>(contents.used) / static_cast<double>(contents.buffers);
  }
}

void PostgresRun::check_alive() {
  server_->check_alive();
  if (clients_) clients_->check_alive();
}

bool PostgresRun::end_window() {
  watch_placements();
  keep_placements();
  const SteadyClock::time_point end = SteadyClock::now();
  clients_->end();
  phase_ = Phase::kOver;
  records_.back().window_s = seconds_between(window_start_, end);
  finish_record();
  clients_.reset();
  monitor_.reset();
  server_->stop();
  records_.back().server_log = end_of_log();
  const bool again = context_.setup.experiment.counters == Counters::kCountedBuild && !counted_ &&
                     !context_.build.counted_postgres.empty();
  if (again) start_server(true);
  return again;
}

std::string PostgresRun::end_of_log() const {
  const std::string log = read_text_file(server_log_path()).value_or("the log could not be read");
  return log.size() <= kKeptLogBytes ? log : log.substr(log.size() - kKeptLogBytes);
}

std::string PostgresRun::server_log_path() const {
  return fmt::format("{}/server{}.log", directory_.path(), counted_ ? "-counted" : "");
}

void PostgresRun::watch_placements() {
  const PlacementConfig& config = context_.setup.placement;
  const Placement server = process_placement(config, "server");
  watch_.look("server", server_->pid(), server);
  for (const pid_t child : children_of(server_->pid())) {
    if (child == background_writer_) {
      watch_.look("background_writer", child, forked_placement(config, "background_writer"));
    } else {
      watch_.look("server", child, server);
    }
  }
  if (!clients_) return;
  for (const ClientProcesses::Process& process : clients_->processes()) {
    watch_.look(process.role, process.pid, process.placement);
  }
}

void PostgresRun::keep_placements() {
  WindowRecord& record = records_.back();
  record.proofs = watch_.records();
  if (!watch_.escaped().empty()) record.breaches.push_back({"placement_escaped", watch_.escaped()});
}

void PostgresRun::finish_record() {
  WindowRecord& record = records_.back();
  record.clients = clients_->results();
  record.command_lines = clients_->command_lines();
  record.client_cpus = clients_->busiest();
  const IdSet server_cpus = process_placement(context_.setup.placement, "server").cpus;
  record.server_cpus =
      server_cpus.empty() ? context_.setup.host.topology.allowed_cpus().size() : server_cpus.size();
  wait_for_clients_to_leave(*monitor_, kLeaveSeconds);
  record.after = read_server_counters(*monitor_, has_hand());
  record.server_cpu_s += cpu_seconds_of_tree(server_->pid());
  record.disk_after = read_disk_counters(record.disk);
  if (counted_) {
    record.sweep = sweep_->totals();
  } else {
    record.sweep_reason = context_.setup.experiment.counters == Counters::kNone
                              ? "not asked for (counters: none)"
                              : context_.build.counted_reason;
  }
  std::ranges::copy(
      pool_memory(main_shared_memory(server_->pid()), PoolMemoryRecord::Moment::kAfter),
      std::back_inserter(record.pool_memory));
  record.pool_after = read_pool_contents(*monitor_);
  record.settings = settings_not_default(*monitor_);
  keep_what_the_server_did();
  const auto total = static_cast<double>(context_.dataset.bytes);
  record.cached_share = static_cast<double>(cached_bytes(context_.dataset.data_directory)) / total;
}

/// Of its own accord, or because somebody else told it to.
void PostgresRun::keep_what_the_server_did() {
  WindowRecord& record = records_.back();
  log_events_->look(record.window_s);
  std::ranges::move(log_events_->take(), std::back_inserter(record.events));
  std::ranges::move(background_events(record.background_before, read_background_work(*monitor_)),
                    std::back_inserter(record.events));
  const std::string change = settings_change(record.settings_before, record.settings);
  if (!change.empty()) record.breaches.push_back({"settings_differ", change});
  server_->check_alive();
}

void PostgresRun::look_for_crash() {
  if (!monitor_) return;  // stopped by us, or not yet started
  const Deadline deadline(kCrashIsLogged);
  do {
    server_->check_alive();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } while (!deadline.has_passed());
}

EngineEvidence PostgresRun::evidence() const {
  EngineEvidence evidence;
  if (clients_) evidence = {clients_->outputs(), clients_->samples()};
  evidence.artifacts.push_back({"server.log", end_of_log()});
  return evidence;
}

std::vector<RoleProcess> PostgresRun::processes() const {
  std::vector<RoleProcess> processes = {
      {"server", server_->pid(), process_placement(context_.setup.placement, "server").cpus, true}};
  if (!clients_) return processes;
  for (const ClientProcesses::Process& process : clients_->processes()) {
    processes.push_back({process.role, process.pid, process.placement.cpus});
  }
  return processes;
}

EngineStats PostgresRun::stats() {
  const WindowRecord& first = records_.front();
  const WindowRecord* counted = records_.back().counted ? &records_.back() : nullptr;
  EngineStats stats;
  stats.values = record_values(context_.setup, context_.workload, first, counted,
                               context_.dataset.working_set_bytes);
  stats.samples = client_samples(context_.workload.roles, first.clients);
  for (const WindowRecord& record : records_) {
    const std::string prefix = &record == &first ? "" : "counted-";
    std::ranges::copy(record.events, std::back_inserter(stats.events));
    std::ranges::copy(record.proofs, std::back_inserter(stats.placement_proofs));
    std::ranges::move(record_artifacts(record, context_.workload.roles, prefix),
                      std::back_inserter(stats.artifacts));
    std::ranges::copy(record.breaches, std::back_inserter(stats.breaches));
  }
  stats.pool_memory = first.pool_memory;
  std::ranges::move(record_events(context_.setup, context_.workload, first, stats.values),
                    std::back_inserter(stats.events));
  return stats;
}

}  // namespace numabench
