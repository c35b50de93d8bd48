// The private folders of one run: scripts, logs, sockets, counters.
#pragma once

#include <cstdint>
#include <string>

#include "hosts/user.h"

namespace numabench {

/// Made below `parent`, which is made when it is not there, for `user`, mode 0700, removed with all
/// in it by the destructor. Its name is `prefix`, the pid and something random: folders of that
/// prefix that killed processes of ours or of `user` have left there are removed first. Throws
/// Error(kRun).
class RunDirectory {
 public:
  RunDirectory(const std::string& parent, const std::string& prefix, const User& user);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Where a file of `bytes` is never written to a disk: /dev/shm where that is a tmpfs that we may
/// write to and that has room for it, else `otherwise`.
std::string directory_in_memory(std::uint64_t bytes, const std::string& otherwise);

/// Makes a folder of `user`'s, mode 0700. Throws Error(kRun).
void make_directory_for(const std::string& path, const User& user);

}  // namespace numabench
