#include "runner/interrupt.h"

#include <array>
#include <cstddef>

namespace numabench {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t interrupt_seen = 0;

void on_signal(int) { interrupt_seen = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_seen = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  // A second signal finds the default action: whoever insists is not kept waiting.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &previous_[i]);
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &previous_[i], nullptr);
}

bool InterruptGuard::interrupted() { return interrupt_seen != 0; }

}  // namespace numabench
