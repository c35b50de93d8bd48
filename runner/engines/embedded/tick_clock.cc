#include "runner/engines/embedded/tick_clock.h"

#include <time.h>

#include <fstream>
#include <string>

namespace numabench {
namespace {

#if defined(__x86_64__)
constexpr std::uint64_t kCalibrationNs = 20'000'000;

bool kernel_trusts_tsc() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return file >> name && name == "tsc";
}

double calibrated_ns_per_tick() {
  const std::uint64_t start_ns = monotonic_ns();
  const std::uint64_t start_ticks = __rdtsc();
  std::uint64_t end_ns = start_ns;
  while (end_ns - start_ns < kCalibrationNs) end_ns = monotonic_ns();
  return static_cast<double>(end_ns - start_ns) / static_cast<double>(__rdtsc() - start_ticks);
}
#endif

}  // namespace

std::uint64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

TickClock TickClock::of_this_host() {
  TickClock clock;
#if defined(__x86_64__)
  if (kernel_trusts_tsc()) {
    clock.counts_cycles_ = true;
    clock.ns_per_tick_ = calibrated_ns_per_tick();
  }
#elif defined(__aarch64__)
  std::uint64_t ticks_per_second;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(ticks_per_second));
  clock.counts_cycles_ = true;
  clock.ns_per_tick_ = 1e9 / static_cast<double>(ticks_per_second);
#endif
  return clock;
}

}  // namespace numabench
