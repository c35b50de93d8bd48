// A client of the embedded engine: one process that reads pages as a PostgreSQL backend does.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runner/engines/embedded/backend.h"
#include "runner/engines/embedded/page_source.h"
#include "runner/engines/embedded/run_control.h"
#include "runner/engines/embedded/tick_clock.h"
#include "workloads/workload.h"

namespace numabench {

/// What a client needs; the references outlive it.
struct ClientSetup {
  BufferPool& pool;
  RunControl& control;
  std::size_t slot = 0;  ///< its own in `control`
  Role::Kind kind = Role::Kind::kPoint;
  const Dataset& dataset;
  const PageSource* pages = nullptr;  ///< nullptr: the pool has no page contents
  TickClock clock;
  std::function<BackendLocation()> location;
};

class Client {
 public:
  Client(const ClientSetup& setup, std::unique_ptr<AccessStream> stream);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Reads a page of the fill before the run, without using it.
  void fill(PageNumber page);
  /// Waits for the warm-up, then serves transactions until the phase is kStop.
  void run();

 private:
  static constexpr std::size_t kBatch = 64;  // accesses: 16 point queries

  void draw_batch();
  bool is_index(PageNumber page) const;
  void serve_batch();
  void serve(const Access& access);
  void use(const Access& access, BufferId buffer);
  void end_transaction();
  void look_at_phase();
  void enter(Phase phase);
  BufferRing* ring_for(const Access& access);

  ClientSetup setup_;
  std::unique_ptr<AccessStream> stream_;
  WorkerSlot& slot_;
  BackendCounters* counters_;
  Backend backend_;
  std::array<Access, kBatch> batch_;
  std::optional<BufferRing> ring_;  ///< of the scan in progress
  Phase phase_ = Phase::kFill;
  std::uint64_t transaction_start_ = 0;  ///< ticks
  std::uint64_t checksum_ = 0;  ///< of what it read, so that reading it is not optimised away
};

}  // namespace numabench
