#include "hosts/child.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "hosts/error.h"
#include "hosts/system_error.h"

namespace numabench {

int Deadline::poll_timeout_ms() const {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(limit_ - elapsed());
  return static_cast<int>(std::clamp(left, milliseconds{0}, milliseconds{60'000}).count());
}

FileDescriptor open_pidfd(pid_t pid) {
  // By number: the <sys/pidfd.h> of glibc 2.36 cannot be linked from C++.
  FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.is_open()) throw_errno("pidfd_open (Linux 5.3 or later)");
  return pidfd;
}

bool has_ended_by(const FileDescriptor& pidfd, const Deadline& deadline) {
  pollfd ended{pidfd.get(), POLLIN, 0};
  for (;;) {
    const int ready = ::poll(&ended, 1, deadline.poll_timeout_ms());
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) throw_errno("poll of a child");
    if (deadline.has_passed()) return false;
  }
}

std::optional<ChildExit> reap(pid_t pid, bool block) {
  ChildExit child;
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::wait4(pid, &status, block ? 0 : WNOHANG, &child.usage);
  } while (reaped < 0 && errno == EINTR);
  if (reaped < 0) {
    throw Error(ErrorKind::kInternal,
                fmt::format("child {} was reaped elsewhere: {}", pid, std::strerror(errno)));
  }
  if (reaped == 0) return std::nullopt;
  if (WIFSIGNALED(status)) {
    child.signal = WTERMSIG(status);
  } else {
    child.exit_code = WEXITSTATUS(status);
  }
  return child;
}

void reset_child(pid_t parent, int death_signal) {
  die_with(parent, death_signal);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGPIPE, SIGCHLD}) {
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void die_with(pid_t parent, int death_signal) {
  ::prctl(PR_SET_PDEATHSIG, death_signal);
  // The signal is not sent for a parent that died before prctl.
  if (::getppid() != parent) ::_exit(70);
}

}  // namespace numabench
