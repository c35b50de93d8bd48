#include "runner/engines/postgres/server_settings.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

namespace numabench {
namespace {

constexpr int kOwnConnections = 4;       // the monitor's, and what it leaves behind while it closes
constexpr int kReservedConnections = 3;  // superuser_reserved_connections' default

/// What a config must not set, and what decides it instead.
struct Reserved {
  std::string_view name;
  std::string_view instead;
};
constexpr std::array kReserved = {
    Reserved{"shared_buffers", "the factor `pools`"},
    Reserved{"listen_addresses", "numabench: servers listen on a private socket only"},
    Reserved{"port", "numabench: servers listen on a private socket only"},
    Reserved{"unix_socket_directories", "numabench: servers listen on a private socket only"},
    Reserved{"restart_after_crash", "numabench: a server that crashed must not go on"},
    Reserved{"dynamic_library_path", "numabench: its function numabench_clock() is found there"},
};

std::map<std::string, std::string> configured(const CellSetup& setup) {
  std::map<std::string, std::string> settings = setup.arm.settings;
  settings.insert(setup.experiment.settings.begin(), setup.experiment.settings.end());
  return settings;
}

}  // namespace

int connections_needed(const SqlWorkload& workload) {
  int connections = kOwnConnections + kReservedConnections;
  for (const SqlRole& role : workload.roles) connections += role.clients;
  return connections;
}

std::map<std::string, std::string> server_settings(const CellSetup& setup,
                                                   const SqlWorkload& workload) {
  std::map<std::string, std::string> settings = configured(setup);
  settings["shared_buffers"] = fmt::format("{}kB", setup.pool_bytes / 1024);
  settings.emplace("max_connections", std::to_string(connections_needed(workload)));
  if (!workload.writes) settings.emplace("autovacuum", "off");
  return settings;
}

std::string settings_refusal(const CellSetup& setup, const SqlWorkload& workload) {
  const std::map<std::string, std::string> settings = configured(setup);
  for (const Reserved& reserved : kReserved) {
    if (settings.contains(std::string(reserved.name))) {
      return fmt::format("the setting {} is decided by {}", reserved.name, reserved.instead);
    }
  }
  const auto found = settings.find("max_connections");
  if (found == settings.end()) return "";
  const std::string& text = found->second;
  int connections = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), connections);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fmt::format("max_connections '{}' is no number", text);
  }
  const int needed = connections_needed(workload);
  if (connections >= needed) return "";
  return fmt::format("max_connections is {}, the cell needs {}", connections, needed);
}

}  // namespace numabench
