// What a server did of its own accord while a window was measured: checkpoints, vacuums, reloads.
#pragma once

#include <string>
#include <vector>

#include "reports/store.h"
#include "runner/engines/postgres/connection.h"
#include "runner/engines/postgres/server.h"
#include "runner/engines/postgres/server_log.h"

namespace numabench {

/// Events from the server's log. Seconds are those of look(), not of the log's lines, which have
/// the wall clock's.
class LogEvents {
 public:
  /// Starts at the end of the log.
  explicit LogEvents(const std::string& log_path) : log_(log_path) {}

  void look(double t_seconds);
  std::vector<EventRecord> take() { return std::move(events_); }

 private:
  ServerLog log_;
  std::vector<EventRecord> events_;
};

/// Autovacuum's work, which the log has only where log_autovacuum_min_duration says so.
struct BackgroundWork {
  long vacuums = 0;
  long analyzes = 0;
};
BackgroundWork read_background_work(Connection& connection);

/// "autovacuum in the window: 1 vacuum, 2 analyzes"; nothing when there was none.
std::vector<EventRecord> background_events(const BackgroundWork& before,
                                           const BackgroundWork& after);

/// Empty when both are the same, else the first difference: "work_mem was 4MB as the window began
/// and is 8MB".
std::string settings_change(const std::vector<SettingRecord>& before,
                            const std::vector<SettingRecord>& after);

}  // namespace numabench
