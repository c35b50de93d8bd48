#include "runner/engines/postgres/window_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace numabench {
namespace {

struct LogSign {
  std::string_view text;
  const char* severity;
};

constexpr std::array kSigns = {
    LogSign{"checkpoints are occurring too frequently", "warning"},
    LogSign{"checkpoint starting", "info"},
    LogSign{"checkpoint complete", "info"},
    LogSign{"automatic vacuum of table", "info"},
    LogSign{"automatic aggressive vacuum", "info"},
    LogSign{"automatic analyze of table", "info"},
    LogSign{"received SIGHUP", "info"},
    LogSign{"parameter \"", "info"},
};

constexpr std::size_t kLongestText = 160;  // "checkpoint complete: …" goes on and on

std::map<std::string, std::string> by_name(const std::vector<SettingRecord>& settings) {
  std::map<std::string, std::string> values;
  for (const SettingRecord& setting : settings) values[setting.name] = setting.value;
  return values;
}

std::string value_in(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? "its default" : found->second;
}

std::string counted(long count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

void LogEvents::look(double t_seconds) {
  for (const std::string& line : log_.new_lines()) {
    const auto sign = std::ranges::find_if(kSigns, [&](const LogSign& candidate) {
      return line.find(candidate.text) != std::string::npos;
    });
    if (sign == kSigns.end()) continue;
    events_.push_back(
        {sign->severity, line.substr(line.find(sign->text), kLongestText), t_seconds});
  }
}

BackgroundWork read_background_work(Connection& connection) {
  const auto rows = connection.query(
      "SELECT coalesce(sum(autovacuum_count), 0), coalesce(sum(autoanalyze_count), 0) "
      "FROM pg_stat_all_tables");
  return {std::stol(rows.at(0).at(0).value()), std::stol(rows.at(0).at(1).value())};
}

std::vector<EventRecord> background_events(const BackgroundWork& before,
                                           const BackgroundWork& after) {
  const long vacuums = std::max(0L, after.vacuums - before.vacuums);
  const long analyzes = std::max(0L, after.analyzes - before.analyzes);
  if (vacuums + analyzes == 0) return {};
  return {{"info", fmt::format("autovacuum in the window: {}, {}", counted(vacuums, "vacuum"),
                               counted(analyzes, "analyze"))}};
}

std::string settings_change(const std::vector<SettingRecord>& before,
                            const std::vector<SettingRecord>& after) {
  const std::map<std::string, std::string> first = by_name(before);
  const std::map<std::string, std::string> last = by_name(after);
  for (const auto& names : {first, last}) {
    for (const auto& [name, value] : names) {
      if (value_in(first, name) == value_in(last, name)) continue;
      return fmt::format("{} was {} as the window began and {} as it ended", name,
                         value_in(first, name), value_in(last, name));
    }
  }
  return "";
}

}  // namespace numabench
