#include "runner/config/host_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

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

/// What stands in an experiment or a profile takes the place of what has been read before.
void read_checks_and_settings(const YamlNode& map, Experiment& experiment,
                              std::map<std::string, Origin>& origins) {
  if (const YamlNode* checks = map.find("host_checks")) {
    experiment.host_checks =
        static_cast<HostChecks>(read_choice(*checks, "'host_checks'", kChecks));
    origins["host_checks"] = checks->origin;
  }
  if (const YamlNode* settings = map.find("host_settings")) {
    read_host_settings(*settings, experiment, origins);
  }
}

/// Where the file of a profile may be, the first place first.
std::vector<std::string> places_of(const std::string& profile, const std::string& directory) {
  const std::filesystem::path folder(directory);
  if (profile.find('/') != std::string::npos || profile.ends_with(".yaml")) {
    return {(folder / profile).string()};
  }
  const std::string file = profile + ".yaml";
  return {(folder / "profiles" / file).string(),
          (folder / ".." / "hosts" / "profiles" / file).lexically_normal().string()};
}

void read_profile(const YamlNode& profile, const std::string& directory, Experiment& experiment,
                  std::map<std::string, Origin>& origins) {
  const std::string name = read_text(profile, "'profile'");
  const std::vector<std::string> places = places_of(name, directory);
  const auto found = std::ranges::find_if(places, [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  });
  if (found == places.end()) {
    config_error(
        profile.origin,
        fmt::format("there is no profile '{}': no file {}", name, fmt::join(places, ", and none ")),
        "correct the name, or write the path of its file, seen from the config's folder");
  }
  const YamlNode file = parse_yaml_file_text(read_config_file(*found), *found);
  check_map(file, "the profile", {"description", "host_checks", "host_settings"});
  if (const YamlNode* description = file.find("description")) {
    read_text(*description, "'description'");
  }
  read_checks_and_settings(file, experiment, origins);
}

}  // namespace

const std::vector<std::string>& host_keys() {
  static const std::vector<std::string> kKeys{"profile", "host_checks", "host_settings"};
  return kKeys;
}

void read_host_section(const YamlNode& root, const std::string& directory,
                       const std::string& relaxed_by, Experiment& experiment,
                       std::map<std::string, Origin>& origins) {
  origins["host_checks"] = {};
  if (const YamlNode* profile = root.find("profile")) {
    read_profile(*profile, directory, experiment, origins);
  }
  read_checks_and_settings(root, experiment, origins);
  if (!relaxed_by.empty() && experiment.host_checks == HostChecks::kEnforce) {
    experiment.host_checks = HostChecks::kWarn;
    origins["host_checks"] = {relaxed_by, 0, 0, ""};
  }
}

std::string to_string(HostChecks checks) { return kChecks[static_cast<std::size_t>(checks)]; }

}  // namespace numabench
