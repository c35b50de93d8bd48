#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "hosts/child.h"
#include "hosts/process.h"
#include "hosts/system_error.h"

namespace numabench {
namespace {

constexpr int kUncaughtException = 70;  // EX_SOFTWARE of sysexits.h

// Nothing of the parent's may run twice, so the child leaves by _exit only: no destructors of the
// parent's frames, no atexit, no flush of buffers that the parent will flush too.
[[noreturn]] void run_body(pid_t parent, const Placement& placement,
                           const std::function<int()>& body) {
  int result = kUncaughtException;
  try {
    reset_child(parent, SIGKILL);
    ::signal(SIGINT, SIG_IGN);
    apply(placement);
    result = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "worker %d: %s\n", static_cast<int>(::getpid()), error.what());
  } catch (...) {
    std::fprintf(stderr, "worker %d: unknown exception\n", static_cast<int>(::getpid()));
  }
  ::_exit(result);
}

Worker::Exit to_worker_exit(const ChildExit& child) {
  return {child.exit_code, child.signal, child.usage};
}

}  // namespace

Worker Worker::fork(const Placement& placement, const std::function<int()>& body) {
  // What is buffered now would be written by the child too, should it fill the same buffer.
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno("fork of a worker");
  if (pid == 0) run_body(parent, placement, body);
  return Worker(pid);
}

Worker::Worker(Worker&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), exit_(std::move(other.exit_)) {}

Worker& Worker::operator=(Worker&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(exit_, other.exit_);
  return *this;
}

Worker::~Worker() {
  try {
    kill();
  } catch (const std::exception&) {
    // Somebody else reaped it: it is gone, which is all that a destructor promises.
  }
}

std::optional<Worker::Exit> Worker::poll() {
  if (pid_ > 0 && !exit_) {
    if (const auto child = reap(pid_, false)) exit_ = to_worker_exit(*child);
  }
  return exit_;
}

Worker::Exit Worker::wait(std::chrono::milliseconds timeout) {
  if (const auto ended = poll()) return *ended;
  const FileDescriptor pidfd = open_pidfd(pid_);
  if (!has_ended_by(pidfd, Deadline(timeout))) {
    ::kill(pid_, SIGTERM);
    if (!has_ended_by(pidfd, Deadline(kGracePeriod))) ::kill(pid_, SIGKILL);
  }
  exit_ = to_worker_exit(*reap(pid_, true));
  return *exit_;
}

void Worker::kill() {
  if (pid_ <= 0 || exit_) return;
  ::kill(pid_, SIGKILL);
  exit_ = to_worker_exit(*reap(pid_, true));
}

}  // namespace numabench
