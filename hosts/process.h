// Child processes: run a program with arguments as a vector (never through a shell), or fork a
// worker of our own, under a Placement, in a process group, with nothing left behind.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hosts/placement.h"
#include "hosts/user.h"

namespace numabench {

struct CommandOptions {
  Placement placement;
  std::optional<User> user;                        ///< whom it runs as; absent: ourselves
  std::string working_directory;                   ///< empty: inherited
  std::map<std::string, std::string> environment;  ///< added to ours; LC_ALL=C is always set
  std::chrono::milliseconds timeout{60'000};       ///< then TERM, and KILL two seconds later
  std::size_t output_limit_bytes = 1 << 20;        ///< of each stream; the rest is dropped
};

struct CommandResult {
  int exit_code = -1;  ///< valid when signal is 0
  int signal = 0;      ///< the signal that ended it
  bool timed_out = false;
  bool output_truncated = false;
  std::string out;
  std::string err;
  rusage usage{};  ///< of the child and its waited-for descendants

  bool ok() const { return exit_code == 0 && signal == 0 && !timed_out; }
};

/// Runs `arguments[0]` (looked up in PATH) to its end. Its standard input is empty, it
/// leads a process group of its own, and it dies with us. Its end, not that of its output, ends the
/// call; what is then left of its group is killed. Throws Error(kPreflight) when the program does
/// not exist, Error(kRun) when it cannot be started or placed.
CommandResult run_command(const std::vector<std::string>& arguments,
                          const CommandOptions& options = {});

/// A forked worker of this program; movable, killed and reaped by the destructor.
class Worker {
 public:
  /// Forks; the child ignores SIGINT (the parent decides), dies with its parent, applies
  /// `placement`, calls `body` and _exits with its result (70 after an exception, whose text goes
  /// to standard error). Call only while the process has one thread.
  static Worker fork(const Placement& placement, const std::function<int()>& body);

  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker();

  pid_t pid() const { return pid_; }

  struct Exit {
    int exit_code = -1;
    int signal = 0;
    rusage usage{};
    bool ok() const { return exit_code == 0 && signal == 0; }
  };
  /// The exit if the worker has ended, else nullopt. Never blocks.
  std::optional<Exit> poll();
  /// Waits up to `timeout`; then TERM, KILL two seconds later.
  Exit wait(std::chrono::milliseconds timeout);
  void kill();

 private:
  explicit Worker(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
  std::optional<Exit> exit_;
};

}  // namespace numabench
