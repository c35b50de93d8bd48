#include "runner/engines/embedded/spin.h"

#include <sched.h>
#include <time.h>

namespace numabench {
namespace {

constexpr std::uint32_t kSpins = 64;
constexpr std::uint32_t kYields = 64;

void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace

void Backoff::pause() {
  ++pauses_;
  if (pauses_ <= kSpins) {
    cpu_relax();
  } else if (pauses_ <= kSpins + kYields) {
    sched_yield();
  } else {
    const timespec nap{0, 50'000};
    nanosleep(&nap, nullptr);
  }
}

}  // namespace numabench
