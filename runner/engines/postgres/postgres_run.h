// One run of a cell on a PostgreSQL server.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hosts/disk_stats.h"
#include "hosts/user.h"
#include "runner/arms/arm_build.h"
#include "runner/engines/engine.h"
#include "runner/engines/placement_watch.h"
#include "runner/engines/postgres/client_processes.h"
#include "runner/engines/postgres/dataset_store.h"
#include "runner/engines/postgres/run_directory.h"
#include "runner/engines/postgres/server.h"
#include "runner/engines/postgres/server_counters.h"
#include "runner/engines/postgres/sweep_counters.h"
#include "runner/engines/postgres/window_record.h"

namespace numabench {

/// What a run gets from the engine; all of it outlives the run.
struct RunContext {
  const CellSetup& setup;
  const ArmBuild& build;
  const SqlWorkload& workload;
  const LoadedDataset& dataset;
  const PgbenchTarget& pgbench;  ///< program and libraries; the server's address is filled in here
  const User& user;
  const std::string& root;
};

/// The server is started by the constructor; a pass is start() .. end_window(), and there may be a
/// second one with the counted binary. The destructor stops what still runs.
class PostgresRun {
 public:
  PostgresRun(const RunContext& context, std::uint64_t seed);

  /// Fills the pool; the clients are in their warm-up when it returns.
  void start();
  /// Ends the warm-up's clients, waits until the server is idle, looks at the pool, resets the
  /// counters and starts the clients of the window.
  void begin_window();
  EngineProgress progress();
  /// Throws BrokenRule when the server or a client has died.
  void check_alive();
  /// After an error: throws BrokenRule when it is the server's crash that is behind it. Clients may
  /// notice before the server has written why.
  void look_for_crash();
  EngineEvidence evidence() const;
  std::vector<RoleProcess> processes() const;
  const std::string& data_path() const { return context_.dataset.data_directory; }
  /// Reads back where every process of the run is; about once a second.
  void watch_placements();
  /// Ends the window and keeps what was counted. After the first pass, when the cell asks for
  /// counters of a binary of its own and the arm has one: starts that one and returns true.
  bool end_window();
  /// After end_window() returned false.
  EngineStats stats();

 private:
  enum class Phase { kIdle, kWarmup, kWindow, kOver };

  void prepare_page_cache();
  void start_server(bool counted);
  void create_sweep_counters(int backends);
  std::map<std::string, std::string> definite_settings(ServerOptions& options);
  void verify_server(const ServerOptions& options);
  void start_clients(const std::vector<SqlRole>& roles, const PgbenchTelling& telling,
                     double seconds, std::uint64_t seed);
  bool has_hand() const;
  void look();
  void begin_record();
  void place_server();
  void keep_placements();
  void finish_record();
  void keep_what_the_server_did();
  std::string server_log_path() const;
  std::string end_of_log() const;

  RunContext context_;
  std::uint64_t seed_;
  RunDirectory directory_;
  std::optional<RunDirectory> counters_directory_;  ///< in memory
  std::optional<SweepCounters> sweep_;
  std::optional<Server> server_;
  std::optional<Connection> monitor_;
  std::unique_ptr<ClientProcesses> clients_;
  Phase phase_ = Phase::kIdle;
  PlacementWatch watch_;         ///< of the pass
  pid_t background_writer_ = 0;  ///< when it has a placement
  bool counted_ = false;         ///< the server that runs is the counted one
  int clients_started_ = 0;      ///< names their folders

  std::optional<LogEvents> log_events_;  ///< of the pass

  ServerCounters last_;    ///< the newest look
  ServerCounters origin_;  ///< as the warm-up or the window began
  double occupancy_pct_ = 0;
  std::chrono::steady_clock::time_point looked_at_{};
  std::chrono::steady_clock::time_point looked_at_pool_{};
  std::chrono::steady_clock::time_point window_start_{};

  std::vector<WindowRecord> records_;  ///< of the passes
};

}  // namespace numabench
