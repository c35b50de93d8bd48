// What the server says its settings are: pg_settings.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "runner/engines/postgres/server.h"

namespace numabench {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t size;  ///< in bytes or microseconds
};
constexpr std::array<Unit, 6> kMemoryUnits{{{"TB", std::int64_t{1} << 40},
                                            {"GB", std::int64_t{1} << 30},
                                            {"MB", std::int64_t{1} << 20},
                                            {"8kB", 8192},
                                            {"kB", 1024},
                                            {"B", 1}}};
constexpr std::array<Unit, 6> kTimeUnits{{{"d", 86'400'000'000},
                                          {"h", 3'600'000'000},
                                          {"min", 60'000'000},
                                          {"s", 1'000'000},
                                          {"ms", 1'000},
                                          {"us", 1}}};

/// `value` units in the largest unit of `units` that keeps it whole, as SHOW does: 16384 of 8kB is
/// "128MB". Empty when `unit` is none of them.
std::string in_largest_unit(std::int64_t value, std::string_view unit,
                            const std::array<Unit, 6>& units) {
  for (const Unit& own : units) {
    if (own.name != unit) continue;
    for (const Unit& larger : units) {
      const bool is_a_step = larger.name != "8kB";
      if (is_a_step && value * own.size % larger.size == 0) {
        return fmt::format("{}{}", value * own.size / larger.size, larger.name);
      }
    }
  }
  return "";
}

/// pg_settings gives the default as a number of units. Zero and negative numbers, which often mean
/// something else, have no unit.
std::string with_unit(const std::string& value, const std::string& unit) {
  std::int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  if (unit.empty() || error != std::errc() || rest != end || number <= 0) return value;
  std::string text = in_largest_unit(number, unit, kMemoryUnits);
  if (text.empty()) text = in_largest_unit(number, unit, kTimeUnits);
  return text.empty() ? value + unit : text;
}

}  // namespace

std::vector<SettingRecord> settings_not_default(Connection& connection) {
  // Without what our own session has set.
  const auto rows = connection.query(
      "SELECT name, current_setting(name), coalesce(boot_val, ''), coalesce(unit, ''), source "
      "FROM pg_settings WHERE setting IS DISTINCT FROM boot_val "
      "AND source NOT IN ('client', 'session') ORDER BY name");
  std::vector<SettingRecord> records;
  for (const Connection::Row& row : rows) {
    records.push_back({*row[0], row[1].value_or(""), with_unit(*row[2], *row[3]), *row[4]});
  }
  return records;
}

std::string settings_mismatch(Connection& connection,
                              const std::map<std::string, std::string>& asked) {
  for (const auto& [name, value] : asked) {
    const auto rows = connection.query(
        "SELECT source, current_setting(name) FROM pg_settings WHERE lower(name) = lower($1)",
        {name});
    if (rows.empty()) {
      return fmt::format("{} is not known to the server: no library that it loads has it", name);
    }
    const std::string source = *rows.front()[0];
    // -1 asks the server to choose, and the server says that it overrode it.
    const bool is_chosen = source == "override" && value == "-1";
    if (source != "command line" && !is_chosen) {
      return fmt::format("{} is {} by '{}', not the {} asked for", name,
                         rows.front()[1].value_or(""), source, value);
    }
  }
  return "";
}

}  // namespace numabench
