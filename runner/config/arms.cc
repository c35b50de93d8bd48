#include "runner/config/arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "hosts/spelling.h"
#include "runner/config/yaml_reader.h"
#include "runner/patches/patch.h"

namespace numabench {
namespace {

std::vector<std::string> switch_names() {
  std::vector<std::string> names;
  for (const PolicyOption& option : policy_options()) names.push_back(option.name);
  return names;
}

void apply_policy(const YamlNode& policy, Arm& arm, std::map<std::string, Origin>& origins) {
  check_map(policy, "the policy of an arm", switch_names());
  for (const PolicyOption& option : policy_options()) {
    const YamlNode* value = policy.find(option.name);
    if (value == nullptr) continue;
    const std::string text = read_scalar(*value, quoted(option.name), option.values);
    with_place(value->origin, [&] { set_policy_option(arm.policy, option.name, text); });
    origins["arms." + arm.name + ".policy." + option.name] = value->origin;
  }
}

/// As people write it, or {of: NAME, patches: 3}, a step of it in an expanded experiment.
void apply_series(const YamlNode& series, PatchFiles files, Arm& arm) {
  if (!series.is_map()) {
    read_choice(series, "'series'", {"each-prefix"});
    if (files == PatchFiles::kExpand) arm.series = arm.name;
    return;
  }
  check_map(series, "'series'", {"of", "patches"});
  arm.series = read_name(need(series, "of", "the series"), "'of'");
  arm.patch_limit = read_integer(need(series, "patches", "the series"), "'patches'", 1);
}

/// "NAME-0003" for each patch.
std::vector<std::string> names_of_prefixes(const std::string& name,
                                           const std::vector<Patch>& patches) {
  std::set<int> numbers;
  for (const Patch& patch : patches) {
    if (patch.number > 0) numbers.insert(patch.number);
  }
  const bool all_numbered = numbers.size() == patches.size();
  std::vector<std::string> names;
  for (const Patch& patch : patches) {
    const int number = all_numbered ? patch.number : static_cast<int>(names.size()) + 1;
    names.push_back(fmt::format("{}-{:04}", name, number));
  }
  return names;
}

/// What is known of the series' arm holds for each of its prefixes.
void copy_origins(const std::string& from, const std::string& to,
                  std::map<std::string, Origin>& origins) {
  std::map<std::string, Origin> copies;
  for (const auto& [path, origin] : origins) {
    if (path == from || path.starts_with(from + "."))
      copies[to + path.substr(from.size())] = origin;
  }
  origins.merge(copies);
}

std::vector<Arm> prefixes_of(const Arm& series, std::map<std::string, Origin>& origins) {
  const std::string path = "arms." + series.name;
  const Origin& where = origins.at(path + ".series");
  if (series.patches.empty()) {
    config_error(where, "a series without patches", "name its patches in 'patches'");
  }
  std::vector<Patch> patches;
  with_place(where, [&] { patches = read_patches(series.patches); });
  std::vector<Arm> arms;
  for (const std::string& name : names_of_prefixes(series.name, patches)) {
    Arm arm = series;
    arm.name = name;
    arm.patch_limit = static_cast<int>(arms.size()) + 1;
    arm.description =
        fmt::format("{}{}up to {}", series.description, series.description.empty() ? "" : ", ",
                    patches[arms.size()].name);
    copy_origins(path, "arms." + name, origins);
    arms.push_back(std::move(arm));
  }
  return arms;
}

const std::vector<std::string> kFileKeys{"description", "extends", "policy",  "source",
                                         "patches",     "series",  "settings"};

void check_inline_arm(const YamlNode& node) {
  std::vector<std::string> keys{"name", "copy_of"};
  keys.insert(keys.end(), kFileKeys.begin(), kFileKeys.end());
  check_map(node, "an arm", keys);
}

}  // namespace

ArmResolver::ArmResolver(std::string directory, std::vector<const YamlNode*> inline_arms)
    : directory_(std::move(directory)), inline_arms_(std::move(inline_arms)) {}

std::vector<Arm> ArmResolver::resolve(const YamlNode& item, PatchFiles files,
                                      std::map<std::string, Origin>& origins) {
  const std::vector<Source> chain = chain_of(item);
  Arm arm;
  arm.name = chain.front().name;
  origins["arms." + arm.name] = item.origin;
  for (auto layer = chain.rbegin(); layer != chain.rend(); ++layer) {
    apply(*layer, files, arm, origins);
  }
  with_place(item.origin, [&] { check_policy(arm.policy); });
  if (files != PatchFiles::kExpand || arm.series.empty()) return {arm};
  return prefixes_of(arm, origins);
}

/// A description and a series are the arm's own: those of its name, not of what it extends.
void ArmResolver::apply(const Source& layer, PatchFiles files, Arm& arm,
                        std::map<std::string, Origin>& origins) const {
  const std::string path = "arms." + arm.name;
  const YamlNode& node = *layer.node;
  const YamlNode* description = node.find("description");
  if (description != nullptr && layer.name == arm.name) {
    arm.description = read_text(*description, "'description'");
    origins[path + ".description"] = description->origin;
  }
  if (const YamlNode* policy = node.find("policy")) apply_policy(*policy, arm, origins);
  if (const YamlNode* source = node.find("source")) {
    arm.source = read_arm_source(*source);
    origins[path + ".source"] = source->origin;
  }
  if (const YamlNode* patches = node.find("patches")) {
    std::ranges::copy(read_patch_files(*patches, files), std::back_inserter(arm.patches));
    origins[path + ".patches"] = patches->origin;
  }
  if (const YamlNode* settings = node.find("settings")) {
    read_settings(*settings, path + ".settings", arm.settings, origins);
  }
  if (const YamlNode* original = node.find("copy_of")) {
    arm.copy_of = read_name(*original, "'copy_of'");
  }
  const YamlNode* series = node.find("series");
  if (series != nullptr && layer.name == arm.name) {
    apply_series(*series, files, arm);
    origins[path + ".series"] = series->origin;
  }
}

/// The arm first, what it extends behind it.
std::vector<ArmResolver::Source> ArmResolver::chain_of(const YamlNode& item) {
  std::vector<Source> chain{source_of(item)};
  while (const YamlNode* extends = chain.back().node->find("extends")) {
    const Source base = base_of(chain.back(), *extends);
    const bool repeated = std::any_of(
        chain.begin(), chain.end(), [&](const Source& source) { return source.node == base.node; });
    if (repeated) {
      config_error(
          extends->origin,
          fmt::format("arm '{}' extends itself through '{}'", base.name, chain.back().name),
          "let one of them stand alone");
    }
    chain.push_back(base);
  }
  return chain;
}

ArmResolver::Source ArmResolver::source_of(const YamlNode& item) {
  if (!item.is_map()) return file_source(read_name(item, "an arm"), item.origin);
  check_inline_arm(item);
  return {&item, read_name(need(item, "name", "the arm"), "'name'"), false};
}

ArmResolver::Source ArmResolver::base_of(const Source& source, const YamlNode& extends) {
  const std::string name = read_name(extends, "'extends'");
  const YamlNode* found = source.is_file || name == source.name ? nullptr : find_inline(name);
  if (found == nullptr) return file_source(name, extends.origin);
  check_inline_arm(*found);
  return {found, name, false};
}

ArmResolver::Source ArmResolver::file_source(const std::string& name, const Origin& wanted_at) {
  const auto known = files_.find(name);
  if (known != files_.end()) return {&known->second, name, true};
  const std::string path = (std::filesystem::path(directory_) / (name + ".yaml")).string();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) not_defined(name, wanted_at);
  YamlNode file = parse_yaml_file_text(read_config_file(path), path);
  check_map(file, "the file of an arm", kFileKeys);
  const auto added = files_.emplace(name, std::move(file)).first;
  return {&added->second, name, true};
}

const YamlNode* ArmResolver::find_inline(const std::string& name) const {
  for (const YamlNode* arm : inline_arms_) {
    const YamlNode* own_name = arm->find("name");
    if (own_name != nullptr && own_name->text == name) return arm;
  }
  return nullptr;
}

void ArmResolver::not_defined(const std::string& name, const Origin& where) const {
  std::vector<std::string> known;
  for (const YamlNode* arm : inline_arms_) {
    if (const YamlNode* own_name = arm->find("name")) known.push_back(own_name->text);
  }
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(directory_, ignored)) {
    if (file.path().extension() == ".yaml") known.push_back(file.path().stem().string());
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  config_error(where,
               fmt::format("arm '{}' is not defined, neither here nor as {}/{}.yaml", name,
                           directory_, name),
               known.empty() ? "define it in 'arms' or in that file" : suggest(name, known));
}

}  // namespace numabench
