// What reads an arm's clock sweep: the counted server (POSTGRES.md, layer 2) and the clock function
// (layer 1).
#pragma once

#include <string>

#include "runner/arms/build_system.h"

namespace numabench {

/// A server with counters in its sweep, beside the plain one.
struct CountedServer {
  std::string postgres;  ///< path; empty when there is none …
  std::string reason;    ///< … and why
  std::string method;    ///< "ClockSweepTick" or "nextVictimBuffer"
};

/// After the install: compiles freelist.c once more inside of our source, links the server with it
/// and installs that as postgres-counted. The source tree is as before then.
CountedServer build_counted_server(const ArmFolders& folders, const BuildSystem& system,
                                   const BuildSteps& steps);

struct ClockFunction {
  std::string directory;  ///< with numabench_clock.so; empty when there is none …
  std::string reason;     ///< … and why
};

/// Compiles the clock function with the headers of the server whose pg_config is in `bindir`.
/// `directory` is made.
ClockFunction build_clock_function(const std::string& bindir, const std::string& library_directory,
                                   const std::string& directory, int version_num,
                                   const BuildSteps& steps);

}  // namespace numabench
