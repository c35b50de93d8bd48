// One run of a cell on the embedded engine: the pool and the processes around it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runner/engines/client_placement.h"
#include "runner/engines/embedded/buffer_pool.h"
#include "runner/engines/embedded/page_source.h"
#include "runner/engines/embedded/replacement_strategy.h"
#include "runner/engines/embedded/run_control.h"
#include "runner/engines/embedded/tick_clock.h"
#include "runner/engines/embedded/window_metrics.h"
#include "runner/engines/embedded/worker_group.h"
#include "runner/engines/engine.h"

namespace numabench {

class Client;

/// The pool that a cell asks for on its host. Throws Error(kPreflight) when the nodes that it would
/// be on lack the huge pages for it.
PoolShape pool_shape(const CellSetup& setup);

/// A server process (it places the memory, as a postmaster does), the background writer when the
/// policy needs one, and the clients. The functions are called once each, in this order but for
/// progress() and check_alive(). The destructor kills what still runs.
class EmbeddedRun {
 public:
  /// `pages` is nullptr when the pool has no page contents. Throws Error(kPreflight) when the
  /// memory cannot be had.
  EmbeddedRun(const CellSetup& setup, std::uint64_t seed, const PageSource* pages, TickClock clock);

  /// Returns when the pool is filled and the clients are in their warm-up.
  void start();
  void begin_window();
  EngineProgress progress() const;
  std::vector<RoleProcess> processes() const { return workers_.processes(); }
  void check_alive() { workers_.check_alive(); }
  /// Reads back where every worker is; about once a second.
  void watch_placements() { workers_.watch(); }
  EngineStats finish();

 private:
  /// A client's slot in the control block, and which kind of client it is.
  struct ClientSlot {
    std::size_t slot;
    Role::Kind kind;
  };

  void start_server();
  void start_clients();
  void start_background_writer();
  /// The loader, when it has a placement; else the first client is the one who fills the pool.
  bool has_loader() const { return setup_.placement.roles.contains("loader"); }
  void start_loader();
  Client make_client(const Role& role, int index, std::size_t slot);
  void fill(Client& client);
  void run_client(const Role& role, int index, std::size_t slot);
  std::function<BackendLocation()> location() const;

  WindowFacts window_facts() const;
  std::vector<MetricValue> metric_values(const std::vector<PoolMemoryRecord>& memory) const;
  std::vector<EventRecord> events() const;

  CellSetup setup_;
  std::uint64_t seed_;
  const PageSource* pages_;
  TickClock clock_;
  Dataset dataset_;
  std::vector<Role> roles_;
  std::vector<std::unique_ptr<AccessStream>> warm_streams_;  ///< keep what all clients share
  BufferPool pool_;
  RunControl control_;
  std::vector<ClientSlot> clients_;
  IdSet client_cpus_;
  double laps_before_ = 0;  ///< of the pool, as the warm-up or the window began
  std::uint32_t occupied_before_ = 0;
  std::uint64_t window_start_ns_ = 0;
  double window_s_ = 0;
  double window_laps_ = 0;
  std::vector<PoolMemoryRecord> pool_memory_;  ///< before and after the window
  WorkerGroup workers_;  ///< last, so that they have ended before what they use goes
};

}  // namespace numabench
