// A program that runs beside us: servers and load generators.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "hosts/process.h"

namespace numabench {

struct ProcessExit {
  int exit_code = -1;  ///< valid when signal is 0
  int signal = 0;
  rusage usage{};  ///< of the process and the descendants it has waited for

  bool ok() const { return exit_code == 0 && signal == 0; }
};

/// Movable; the destructor kills what is left of its process group. Like run_command()'s children,
/// it leads a process group, has no standard input, and gets `death_signal` when we die.
class BackgroundProcess {
 public:
  struct Options {
    CommandOptions command;   ///< timeout and output limit are not used
    std::string output_path;  ///< standard output is appended to it; empty: /dev/null
    std::string error_path;   ///< the same of standard error; may be the same file
    int death_signal = 9;     ///< SIGKILL; a postmaster wants SIGINT, its fast shutdown
  };

  /// The output files belong to the user that the command runs as. Throws Error(kPreflight) when
  /// the program does not exist, Error(kRun) when it cannot be started, placed or given its user.
  static BackgroundProcess start(const std::vector<std::string>& arguments, const Options& options);

  BackgroundProcess(BackgroundProcess&& other) noexcept;
  BackgroundProcess& operator=(BackgroundProcess&& other) noexcept;
  ~BackgroundProcess();

  pid_t pid() const { return pid_; }
  /// Sends `number` to the process alone; nothing when it has ended.
  void signal(int number) const;
  /// The exit if it has ended, else nullopt. Never blocks.
  std::optional<ProcessExit> poll();
  /// Waits up to `timeout`; nullopt when it is still running then.
  std::optional<ProcessExit> wait(std::chrono::milliseconds timeout);
  /// TERM to the group, KILL two seconds later.
  ProcessExit kill();

 private:
  explicit BackgroundProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
  std::optional<ProcessExit> exit_;
};

}  // namespace numabench
