// The background writer and the balancer: PostgreSQL's BgBufferSync without dirty pages.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/engines/embedded/buffer_pool.h"
#include "runner/engines/embedded/run_control.h"

namespace numabench {

/// One process calls cycle() every 200 ms (BACKGROUND WRITER and REBALANCE of the rules).
class BackgroundWriter {
 public:
  /// `pool` outlives the writer.
  explicit BackgroundWriter(BufferPool& pool);

  /// Whether the policy gives a writer anything to do.
  static bool is_needed(const PoolPolicy& policy);

  void cycle();

  /// Forgets what the pool has served so far, so that filling it neither tilts the balance nor
  /// counts as the clients' rate.
  void start_afresh();

 private:
  /// What it remembers of a partition from cycle to cycle; positions are absolute.
  struct Partition {
    double hand = 0;      ///< of the sweep, at the last cycle
    double position = 0;  ///< how far the writer has looked
    double smoothed_allocations = 0;
    double density = 10.0;       ///< buffers looked at for one that can be reused
    std::uint64_t give_ups = 0;  ///< at the last cycle
  };

  void run_ahead(int partition);
  bool spends(int partition);
  void look_ahead(int partition, double reusable_ahead, bool spending);
  bool is_reusable(BufferId buffer, bool spending);

  BufferPool& pool_;
  std::vector<Partition> partitions_;
};

/// The background writer's process: a cycle every 200 ms until the phase is kStop.
void run_background_writer(BufferPool& pool, const RunControl& control);

}  // namespace numabench
