// The processes of a run, as an engine names them to the monitors.
#pragma once

#include <sys/types.h>

#include <string>

#include "hosts/id_set.h"

namespace numabench {

struct RoleProcess {
  std::string role;  ///< "server", "clients", "scanners", "background_writer"
  pid_t pid = 0;
  IdSet cpus;                     ///< that its placement allows; empty: any
  bool with_descendants = false;  ///< a postmaster stands for all its backends

  /// Of those that serve pages; the others ask for them.
  bool is_server() const { return role == "server" || role == "background_writer"; }
};

}  // namespace numabench
