#include "hosts/background_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "hosts/child.h"
#include "hosts/launch.h"
#include "hosts/system_error.h"

namespace numabench {
namespace {

FileDescriptor open_output(const std::string& path, const std::optional<User>& user) {
  const bool kept = !path.empty();
  FileDescriptor file(
      ::open(kept ? path.c_str() : "/dev/null", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file.is_open()) throw_errno(fmt::format("opening '{}' for the output of a program", path));
  if (kept && user && user->uid != ::geteuid() && ::fchown(file.get(), user->uid, user->gid) != 0) {
    throw_errno(fmt::format("giving '{}' to the user '{}'", path, user->name));
  }
  return file;
}

// Without reaping it, so that its pid still names no other process or group.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

ProcessExit end_group_of(pid_t leader) {
  ::kill(-leader, SIGKILL);
  const ChildExit child = *reap(leader, true);
  return {child.exit_code, child.signal, child.usage};
}

}  // namespace

BackgroundProcess BackgroundProcess::start(const std::vector<std::string>& arguments,
                                           const Options& options) {
  const FileDescriptor out = open_output(options.output_path, options.command.user);
  const FileDescriptor err = open_output(options.error_path, options.command.user);
  return BackgroundProcess(
      launch(arguments, options.command, {out.get(), err.get()}, options.death_signal));
}

BackgroundProcess::BackgroundProcess(BackgroundProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), exit_(std::move(other.exit_)) {}

BackgroundProcess& BackgroundProcess::operator=(BackgroundProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(exit_, other.exit_);
  return *this;
}

BackgroundProcess::~BackgroundProcess() {
  try {
    if (pid_ > 0 && !exit_) end_group_of(pid_);
  } catch (const std::exception&) {
    // Somebody else reaped it: it is gone, which is all that a destructor promises.
  }
}

void BackgroundProcess::signal(int number) const {
  if (pid_ > 0 && !exit_) ::kill(pid_, number);
}

std::optional<ProcessExit> BackgroundProcess::poll() {
  if (pid_ > 0 && !exit_ && has_ended(pid_)) exit_ = end_group_of(pid_);
  return exit_;
}

std::optional<ProcessExit> BackgroundProcess::wait(std::chrono::milliseconds timeout) {
  if (pid_ > 0 && !exit_) has_ended_by(open_pidfd(pid_), Deadline(timeout));
  return poll();
}

ProcessExit BackgroundProcess::kill() {
  if (const auto ended = poll()) return *ended;
  if (pid_ <= 0) return {};
  ::kill(-pid_, SIGTERM);
  if (!wait(kGracePeriod)) exit_ = end_group_of(pid_);
  return *exit_;
}

}  // namespace numabench
