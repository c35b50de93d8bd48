// Who a child process runs as: servers never run as root.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace numabench {

struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;

  bool operator==(const User&) const = default;
};

/// The user of the calling process.
User current_user();

/// nullopt when there is none of this name.
std::optional<User> find_user(const std::string& name);

/// Whom a server runs as: the caller itself when that is not root. Else `wanted`, or when that is
/// empty the first of `postgres` and `numabench` that exists, else `numabench`, which is created as
/// a system user without a login (useradd). Throws Error(kPreflight) for a `wanted` that does not
/// exist or is root, for another user than oneself without root, and when none can be created.
User server_user(const std::string& wanted);

}  // namespace numabench
