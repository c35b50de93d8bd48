// What the host must have before anything is built.
#pragma once

#include <string>
#include <vector>

#include "hosts/error.h"

namespace numabench {

/// An Error(kPreflight) that no other arm would escape.
class HostLacks : public Error {
 public:
  HostLacks(const std::string& problem, const std::string& remedy)
      : Error(ErrorKind::kPreflight, problem, remedy) {}
};

/// Throws HostLacks naming the programs that are not in PATH and the packages that have them.
void require_tools(const std::vector<std::string>& programs);

/// Throws HostLacks when the filesystem of `root` has no room for a build.
void require_space(const std::string& root);

/// "gcc (Debian 12.2.0-14) 12.2.0"; empty when there is no gcc.
std::string compiler_version();

}  // namespace numabench
