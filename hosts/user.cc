#include "hosts/user.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <array>

#include "hosts/error.h"
#include "hosts/process.h"

namespace numabench {
namespace {

constexpr const char* kOwnUser = "numabench";

// What getpwnam_r and getpwuid_r want for the strings of an entry; the longest known are far below.
using EntryText = std::array<char, 65536>;

std::optional<User> to_user(const passwd* entry) {
  if (entry == nullptr) return std::nullopt;
  return User{entry->pw_name, entry->pw_uid, entry->pw_gid};
}

User create_own_user() {
  const CommandResult result =
      run_command({"useradd", "--system", "--user-group", "--no-create-home", "--home-dir",
                   "/nonexistent", "--shell", "/usr/sbin/nologin", kOwnUser});
  const auto user = find_user(kOwnUser);
  if (user) return *user;
  throw Error(ErrorKind::kPreflight,
              fmt::format("cannot create the user '{}': {}", kOwnUser, result.err),
              "create an unprivileged user and name it as server_user");
}

User wanted_user(const std::string& name) {
  const auto user = find_user(name);
  if (!user) {
    throw Error(ErrorKind::kPreflight, fmt::format("there is no user '{}'", name),
                "create it or name another server_user");
  }
  if (user->uid == 0) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("the server user '{}' is root, whom PostgreSQL refuses", name),
                "name an unprivileged server_user");
  }
  return *user;
}

}  // namespace

User current_user() {
  const uid_t uid = ::geteuid();
  passwd entry{};
  passwd* found = nullptr;
  EntryText text;
  ::getpwuid_r(uid, &entry, text.data(), text.size(), &found);
  // In a container the uid may have no entry.
  return to_user(found).value_or(User{std::to_string(uid), uid, ::getegid()});
}

std::optional<User> find_user(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  EntryText text;
  ::getpwnam_r(name.c_str(), &entry, text.data(), text.size(), &found);
  return to_user(found);
}

User server_user(const std::string& wanted) {
  const User self = current_user();
  if (self.uid != 0) {
    if (wanted.empty() || wanted == self.name) return self;
    throw Error(ErrorKind::kPreflight,
                fmt::format("the user '{}' cannot run servers as '{}'", self.name, wanted),
                fmt::format("run numabench as root or as '{}', or leave out server_user", wanted));
  }
  if (!wanted.empty()) return wanted_user(wanted);
  for (const char* name : {"postgres", kOwnUser}) {
    const auto user = find_user(name);
    if (user && user->uid != 0) return *user;
  }
  return create_own_user();
}

}  // namespace numabench
