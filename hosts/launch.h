// From fork to exec: what run_command() and BackgroundProcess share.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "hosts/process.h"

namespace numabench {

/// Where the two output streams of the child go; descriptors of ours, which stay open.
struct ChildStreams {
  int out = -1;
  int err = -1;
};

/// Forks a child that leads a process group, reads nothing, gets `death_signal` when the calling
/// thread dies, is placed, becomes its user and enters its directory as `options` say, and then is
/// the program `arguments[0]`. Returns once it is. Throws Error(kPreflight) when the program does
/// not exist, Error(kRun) when it cannot be started, placed or given its user.
pid_t launch(const std::vector<std::string>& arguments, const CommandOptions& options,
             const ChildStreams& streams, int death_signal);

}  // namespace numabench
