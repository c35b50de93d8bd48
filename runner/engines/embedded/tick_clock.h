// The cheapest trustworthy clock for latencies: the CPU's counter where the kernel itself trusts
// it.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace numabench {

/// Nanoseconds of CLOCK_MONOTONIC.
std::uint64_t monotonic_ns();

/// Copyable; children forked later may use it. Ticks of different CPUs are comparable.
class TickClock {
 public:
  /// The time-stamp counter when the kernel's clocksource is "tsc", calibrated against
  /// CLOCK_MONOTONIC for 20 ms; the virtual counter of AArch64 with the frequency it states; else
  /// CLOCK_MONOTONIC itself.
  static TickClock of_this_host();

  std::uint64_t now() const {
#if defined(__x86_64__)
    if (counts_cycles_) return __rdtsc();
#elif defined(__aarch64__)
    if (counts_cycles_) {
      std::uint64_t ticks;
      asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
      return ticks;
    }
#endif
    return monotonic_ns();
  }

  std::uint64_t to_ns(std::uint64_t ticks) const {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }

 private:
  bool counts_cycles_ = false;
  double ns_per_tick_ = 1;
};

}  // namespace numabench
