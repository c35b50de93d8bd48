// What run_command and Worker share: waiting for a child with a deadline and reaping it.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <optional>

#include "hosts/file_descriptor.h"

namespace numabench {

/// Between the TERM that asks a child to end and the KILL that ends it.
inline constexpr std::chrono::milliseconds kGracePeriod{2'000};

/// How a child ended: wait4(2), decoded.
struct ChildExit {
  int exit_code = -1;
  int signal = 0;
  rusage usage{};
};

/// A time limit by the monotonic clock that cannot overflow, however long the limit is.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit) : limit_(limit) {}
  bool has_passed() const { return elapsed() >= limit_; }
  /// For poll(2): the milliseconds left, rounded up and at most a minute.
  int poll_timeout_ms() const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::duration elapsed() const { return Clock::now() - start_; }

  Clock::time_point start_ = Clock::now();
  std::chrono::milliseconds limit_;
};

/// A descriptor that becomes readable when `pid`, a child not yet reaped, has ended.
FileDescriptor open_pidfd(pid_t pid);

/// True if the child behind `pidfd` has ended before the deadline. Does not reap it.
bool has_ended_by(const FileDescriptor& pidfd, const Deadline& deadline);

/// Reaps `pid`; with `block` false, nullopt while it is still running. Throws Error(kInternal) when
/// somebody else has reaped it.
std::optional<ChildExit> reap(pid_t pid, bool block);

/// In the child, directly after fork: default handlers and an empty mask for the signals that a
/// parent may handle, ignore or block, and die_with(parent, death_signal).
void reset_child(pid_t parent, int death_signal);

/// In the child: asks for `death_signal` when the thread of `parent` that forked it dies, and ends
/// the child at once when it has died already. The kernel forgets it at a change of the uid.
void die_with(pid_t parent, int death_signal);

}  // namespace numabench
