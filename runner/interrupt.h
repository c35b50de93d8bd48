// Ctrl-C, TERM and HUP as a flag that the run loop looks at.
#pragma once

#include <csignal>

namespace numabench {

/// While it lives, the first signal sets the flag and a second one ends the process at once with
/// the signal's default action. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool interrupted();

 private:
  struct sigaction previous_[3];
};

}  // namespace numabench
