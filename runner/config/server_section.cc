#include "runner/config/server_section.h"

#include <functional>
#include <utility>

#include "hosts/units.h"
#include "runner/config/arm_sources.h"
#include "runner/config/yaml_reader.h"

namespace numabench {
namespace {

const std::vector<std::string> kSystems{"auto", "meson", "autoconf"};
const std::vector<std::string> kProtocols{"simple", "extended", "prepared"};
const std::string kAutomatic = "auto";
const std::vector<std::string> kCounters{"none", "same-build", "counted-build"};

using Readers = std::vector<std::pair<std::string, std::function<void(const YamlNode&)>>>;

/// Calls the reader of each key that `map` has; records all origins under `path`.
void read_keys(const YamlNode* map, const std::string& path, const Readers& readers,
               std::map<std::string, Origin>& origins) {
  for (const auto& [key, read] : readers) {
    const YamlNode* node = map == nullptr ? nullptr : map->find(key);
    origins[path + key] = node == nullptr ? Origin{} : node->origin;
    if (node != nullptr) read(*node);
  }
}

std::vector<std::string> keys_of(const Readers& readers) {
  std::vector<std::string> keys;
  for (const auto& [key, read] : readers) keys.push_back(key);
  return keys;
}

void read_section(const YamlNode& root, const std::string& name, const Readers& readers,
                  std::map<std::string, Origin>& origins) {
  const YamlNode* section = root.find(name);
  if (section != nullptr) check_map(*section, quoted(name), keys_of(readers));
  read_keys(section, name + ".", readers, origins);
}

double read_rate(const YamlNode& node) {
  const double rate = read_number(node, "'rate'");
  if (rate < 0) config_error(node.origin, "'rate' is negative", "write 0 for no limit");
  return rate;
}

std::optional<double> read_sampling(const YamlNode& node) {
  if (node.is_scalar() && node.text == kAutomatic) return std::nullopt;
  const double share = read_number(node, "'log_sampling'");
  if (share <= 0 || share > 1) {
    config_error(node.origin, "'log_sampling' is no share of the transactions",
                 "write 'auto', or a number above 0 and at most 1, such as 0.05");
  }
  return share;
}

Readers build_readers(BuildOptions& build) {
  return {{"system",
           [&](const YamlNode& node) {
             build.system =
                 static_cast<BuildOptions::System>(read_choice(node, "'system'", kSystems));
           }},
          {"options",
           [&](const YamlNode& node) {
             for (const YamlNode* item : read_list_or_one(node, "'options'")) {
               build.options.push_back(read_verbatim(*item, "'options'"));
             }
           }},
          {"cflags", [&](const YamlNode& node) { build.cflags = read_text(node, "'cflags'"); }}};
}

Readers pgbench_readers(PgbenchOptions& pgbench) {
  return {
      {"program",
       [&](const YamlNode& node) {
         pgbench.program = path_beside(read_text(node, "'program'"), node.origin);
       }},
      {"protocol",
       [&](const YamlNode& node) {
         pgbench.protocol =
             static_cast<PgbenchOptions::Protocol>(read_choice(node, "'protocol'", kProtocols));
       }},
      {"jobs", [&](const YamlNode& node) { pgbench.jobs = read_integer(node, "'jobs'", 0); }},
      {"rate", [&](const YamlNode& node) { pgbench.rate = read_rate(node); }},
      {"log_sampling", [&](const YamlNode& node) { pgbench.log_sampling = read_sampling(node); }}};
}

}  // namespace

const std::vector<std::string>& server_keys() {
  static const std::vector<std::string> kKeys{"build",   "settings", "server_user",
                                              "pgbench", "counters", "require_full_pool"};
  return kKeys;
}

void read_server_section(const YamlNode& root, Experiment& experiment,
                         std::map<std::string, Origin>& origins) {
  read_section(root, "build", build_readers(experiment.build), origins);
  read_section(root, "pgbench", pgbench_readers(experiment.pgbench), origins);
  if (const YamlNode* settings = root.find("settings")) {
    read_settings(*settings, "settings", experiment.settings, origins);
  }
  const Readers readers = {
      {"server_user",
       [&](const YamlNode& node) { experiment.server_user = read_name(node, "'server_user'"); }},
      {"counters",
       [&](const YamlNode& node) {
         experiment.counters = static_cast<Counters>(read_choice(node, "'counters'", kCounters));
       }},
      {"require_full_pool", [&](const YamlNode& node) {
         experiment.require_full_pool = read_boolean(node, "'require_full_pool'");
       }}};
  read_keys(&root, "", readers, origins);
}

std::string to_string(BuildOptions::System system) {
  return kSystems[static_cast<std::size_t>(system)];
}

std::string to_string(PgbenchOptions::Protocol protocol) {
  return kProtocols[static_cast<std::size_t>(protocol)];
}

std::string log_sampling_text(const PgbenchOptions& pgbench) {
  return pgbench.log_sampling ? format_exact(*pgbench.log_sampling) : kAutomatic;
}

std::string to_string(Counters counters) { return kCounters[static_cast<std::size_t>(counters)]; }

}  // namespace numabench
