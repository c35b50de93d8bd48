// One running PostgreSQL server: started under a placement by an unprivileged user, watched, and
// stopped whatever happens.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hosts/background_process.h"
#include "hosts/placement.h"
#include "hosts/user.h"
#include "runner/engines/postgres/connection.h"

namespace numabench {

struct ServerOptions {
  std::string postgres;           ///< the binary
  std::string library_directory;  ///< LD_LIBRARY_PATH; may be empty
  std::string data_directory;
  std::map<std::string, std::string> settings;     ///< given as -c name=value
  std::map<std::string, std::string> environment;  ///< NUMABENCH_SWEEP_COUNTERS
  Placement placement;
  User user;
  std::string log_path;
  std::chrono::seconds start_timeout{60};
};

class Server {
 public:
  /// Starts the server and waits until it accepts connections. A postmaster.pid whose process is
  /// gone is removed; a server or backends of an earlier run that still use the data directory (it
  /// is ours) are ended first, with an event in `notes`. Throws Error(kRun) with the last lines of
  /// its log when it dies or is not ready in time, and Error(kPreflight) for what the user must
  /// mend: huge pages, memory, limits.
  static Server start(const ServerOptions& options);

  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  ///< stops it, by force after 30 seconds

  pid_t pid() const;
  int port() const;
  const std::string& socket_directory() const;  ///< short (107 bytes at most with the name), 0700
  Connection connect(const std::string& database = "postgres") const;
  /// Throws BrokenRule with what its log says when it has ended, a process of it has crashed
  /// ("server process (PID 17) was terminated by signal 9") or somebody tells it to stop.
  void check_alive();
  /// Fast shutdown; immediate after 30 seconds, KILL after 40. Nothing when it has ended.
  void stop();
  /// What was found and cleaned before the start.
  const std::vector<std::string>& notes() const;

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A setting that is not as it was asked for, or not the default.
struct SettingRecord {
  std::string name;
  std::string value;  ///< with its unit: "1GB"
  std::string default_value;
  std::string source;  ///< "command line", "configuration file", …
};

/// All settings that differ from the server's defaults.
std::vector<SettingRecord> settings_not_default(Connection& connection);

/// Empty when each of `asked` is in force from the command line, else the first that is not:
/// "work_mem is 4MB by 'database', not the 64MB asked for".
std::string settings_mismatch(Connection& connection,
                              const std::map<std::string, std::string>& asked);

/// Huge pages of the default size that a server with these options will ask for (postgres -C
/// shared_memory_size_in_huge_pages; 15 and later). nullopt when it cannot say.
std::optional<std::uint64_t> huge_pages_needed(const ServerOptions& options);

/// The setting huge_pages that makes `try` (SharedRegion's words) definite: "on" when the free
/// huge pages suffice for `needed`, "off" when not; `on` with too few throws Error(kPreflight) that
/// says how many are free, how many are needed and the command that sets them. A server whose
/// memory is bound to `nodes` has only theirs; empty: all.
std::string definite_huge_pages(const std::string& wanted, std::optional<std::uint64_t> needed,
                                const IdSet& nodes = {});

}  // namespace numabench
