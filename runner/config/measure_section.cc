#include "runner/config/measure_section.h"

#include <optional>

#include "hosts/spelling.h"
#include "runner/config/yaml_reader.h"

namespace numabench {
namespace {

const std::vector<std::string> kOrders{"blocked", "config", "random"};
const std::vector<std::string> kPairs{"none", "ABBA"};
const std::vector<std::string> kMonitors{"host", "pss", "perf"};

void read_monitors(const YamlNode& node, MonitorOptions& monitors,
                   std::map<std::string, Origin>& origins) {
  check_map(node, "'monitors'", kMonitors);
  const auto read = [&](const std::string& key, bool& value) {
    const YamlNode* found = node.find(key);
    if (found == nullptr) return;
    value = read_boolean(*found, quoted(key));
    origins["monitors." + key] = found->origin;
  };
  read("host", monitors.host);
  read("pss", monitors.pss);
  read("perf", monitors.perf);
}

void read_voids(const YamlNode& node, VoidPolicy& voids, std::map<std::string, Origin>& origins) {
  std::vector<std::string> names;
  for (const VoidRule& rule : void_rules()) names.emplace_back(rule.name);
  check_map(node, "'void'", names);
  for (const YamlEntry& entry : node.entries) {
    const YamlNode& value = *node.find(entry.key);
    const std::optional<RuleSetting> setting =
        parse_rule_setting(*find_void_rule(entry.key), read_verbatim(value, quoted(entry.key)));
    if (!setting) {
      config_error(value.origin, quoted(value.text) + " says nothing about " + quoted(entry.key),
                   "write 'warn', 'void', a limit such as 10%, or both: 'warn 10%'");
    }
    voids[entry.key] = *setting;
    origins["void." + entry.key] = value.origin;
  }
}

}  // namespace

const std::vector<std::string>& measure_keys() {
  static const std::vector<std::string> kKeys{"order", "pairs", "drift_control", "monitors",
                                              "void"};
  return kKeys;
}

void read_measure_section(const YamlNode& root, Experiment& experiment,
                          std::map<std::string, Origin>& origins) {
  const auto value = [&](const std::string& key) {
    const YamlNode* node = root.find(key);
    origins[key] = node == nullptr ? Origin{} : node->origin;
    return node;
  };
  if (const YamlNode* node = value("order")) {
    experiment.order = static_cast<RunOrder>(read_choice(*node, "'order'", kOrders));
  }
  if (const YamlNode* node = value("pairs")) {
    experiment.pairs_abba = read_choice(*node, "'pairs'", kPairs) == 1;
    if (experiment.pairs_abba && experiment.order != RunOrder::kBlocked) {
      config_error(node->origin, "'pairs' is for the blocked order", "write order: blocked");
    }
  }
  if (const YamlNode* node = value("drift_control")) {
    experiment.drift_control = read_boolean(*node, "'drift_control'");
  }
  if (const YamlNode* node = root.find("monitors")) {
    read_monitors(*node, experiment.monitors, origins);
  }
  if (const YamlNode* node = root.find("void")) read_voids(*node, experiment.voids, origins);
}

std::string to_string(RunOrder order) { return kOrders[static_cast<std::size_t>(order)]; }

}  // namespace numabench
