// Waiting for a few instructions of another process, which may have been preempted meanwhile.
#pragma once

#include <atomic>
#include <cstdint>

namespace numabench {

/// Spins, then yields, then sleeps: with more clients than CPUs the process waited for may need the
/// very CPU that the waiter runs on.
class Backoff {
 public:
  void pause();  ///< out of line, to keep it out of paths that seldom wait

 private:
  std::uint32_t pauses_ = 0;
};

/// A lock for a handful of instructions in shared memory; zero is unlocked. Meets the standard's
/// BasicLockable, so std::lock_guard holds it.
class Spinlock {
 public:
  void lock() {
    for (Backoff backoff; locked_.exchange(1, std::memory_order_acquire) != 0;) backoff.pause();
  }
  void unlock() { locked_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint32_t> locked_{0};
};

}  // namespace numabench
