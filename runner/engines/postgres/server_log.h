// What a server wrote into its log since it was started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace numabench {

class ServerLog {
 public:
  /// The file may not be there yet; what is in it already belongs to earlier servers.
  explicit ServerLog(std::string path);

  const std::string& path() const { return path_; }
  /// The last FATAL, PANIC or ERROR with its DETAIL and HINT, or when there is none the last lines;
  /// one line, without time stamps. Empty when nothing was written.
  std::string failure() const;
  /// Why the server does not go on: "server process (PID 17) was terminated by signal 9: Killed",
  /// "received fast shutdown request"; empty when it does. Reads only what is new since the last
  /// call.
  std::string crash();
  /// Whole lines that are new since the last call, without time stamps; an object is for this or
  /// for crash().
  std::vector<std::string> new_lines();

 private:
  /// Whole lines behind what has been seen.
  std::string unseen() const;
  std::string read_from(std::uint64_t offset) const;

  std::string path_;
  std::uint64_t start_ = 0;  ///< of this server's lines
  std::uint64_t seen_ = 0;   ///< by crash() or new_lines()
};

}  // namespace numabench
