#include "runner/config/host_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hosts/doctor/host_check.h"
#include "hosts/spelling.h"
#include "runner/config/yaml_reader.h"

namespace numabench {
namespace {

const std::vector<std::string> kChecks{"enforce", "warn", "off"};

/// "numa_balancing" for the check "numa balancing".
std::string key_of(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::string read_value(const YamlNode& node, const SettableCheck& check) {
  if (!check.values.empty()) {
    return check.values[read_choice(node, quoted(key_of(check.name)), check.values)];
  }
  return std::to_string(read_seed(node, quoted(key_of(check.name))));
}

void read_host_settings(const YamlNode& node, Experiment& experiment,
                        std::map<std::string, Origin>& origins) {
  std::vector<std::string> keys;
  for (const SettableCheck& check : settable_checks()) keys.push_back(key_of(check.name));
  check_map(node, "'host_settings'", keys);
  for (const SettableCheck& check : settable_checks()) {
    const YamlNode* value = node.find(key_of(check.name));
    if (value == nullptr) continue;
    experiment.host_settings[key_of(check.name)] = read_value(*value, check);
    origins["host_settings." + key_of(check.name)] = value->origin;
  }
}

}  // namespace

const std::vector<std::string>& host_keys() {
  static const std::vector<std::string> kKeys{"host_checks", "host_settings"};
  return kKeys;
}

void read_host_section(const YamlNode& root, const std::string& relaxed_by, Experiment& experiment,
                       std::map<std::string, Origin>& origins) {
  const YamlNode* checks = root.find("host_checks");
  origins["host_checks"] = checks == nullptr ? Origin{} : checks->origin;
  if (checks != nullptr) {
    experiment.host_checks =
        static_cast<HostChecks>(read_choice(*checks, "'host_checks'", kChecks));
  }
  if (!relaxed_by.empty() && experiment.host_checks == HostChecks::kEnforce) {
    experiment.host_checks = HostChecks::kWarn;
    origins["host_checks"] = {relaxed_by, 0, 0, ""};
  }
  if (const YamlNode* settings = root.find("host_settings")) {
    read_host_settings(*settings, experiment, origins);
  }
}

std::string to_string(HostChecks checks) { return kChecks[static_cast<std::size_t>(checks)]; }

}  // namespace numabench
