// What the engine and its workers tell each other through shared memory.
#pragma once

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hosts/shared_region.h"
#include "runner/engines/embedded/backend_counters.h"

namespace numabench {

/// Only ever moves forward.
enum class Phase : std::uint32_t {
  kFill,
  kWarmup,
  kWindow,
  kObserve,  ///< the window is over; the clients go on while their placement is read back
  kStop,
};

/// What one worker writes.
struct alignas(128) WorkerSlot {
  BackendCounters uncounted;  ///< of the phases before and after the window
  BackendCounters window;
  rusage usage_at_begin{};  ///< of the worker, as it saw the window begin
  rusage usage_at_end{};
  std::atomic<std::uint32_t> ready{0};  ///< it has done what it does before the clients start
  std::array<char, 512> error{};        ///< why it gave up; zero-terminated
};

/// The phase and a slot for every worker, in a mapping that forked workers share.
class RunControl {
 public:
  explicit RunControl(std::size_t workers);

  Phase phase() const { return phase_->load(std::memory_order_relaxed); }
  void enter(Phase phase) { phase_->store(phase, std::memory_order_release); }
  /// Sleeps until the phase is at least `phase`.
  void wait_for(Phase phase) const;

  std::size_t workers() const { return workers_; }
  WorkerSlot& slot(std::size_t worker) const { return slots_[worker]; }
  void set_error(std::size_t worker, std::string_view text);

 private:
  std::size_t workers_;
  SharedRegion region_;
  std::atomic<Phase>*
      phase_;  ///< on a pair of cache lines of its own: read after every transaction
  WorkerSlot* slots_;
};

}  // namespace numabench
