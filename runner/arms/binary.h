// What an ELF binary says of itself.
#pragma once

#include <string>
#include <vector>

namespace numabench {

struct BinaryIdentity {
  std::string build_id;  ///< hex, of the GNU build-id note; empty without one
  std::string compiler;  ///< "gcc (Debian 12.2.0-14) 12.2.0"; empty when it is not told
  std::vector<std::string> libraries;  ///< DT_NEEDED: "libnuma.so.1"

  bool needs(const std::string& library) const;  ///< "libnuma"
};

/// Throws Error(kRun) when `path` cannot be read or is no ELF file.
BinaryIdentity read_binary(const std::string& path);

}  // namespace numabench
