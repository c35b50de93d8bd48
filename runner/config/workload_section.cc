#include "runner/config/workload_section.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "hosts/units.h"
#include "runner/config/arm_sources.h"
#include "runner/config/yaml_reader.h"
#include "workloads/script_list.h"

namespace numabench {
namespace {

const YamlNode& name_node(const YamlNode& item) {
  return item.is_map() ? need(item, "name", "the workload") : item;
}

/// 1.10 and 1.1 are the same experiment.
std::string canonical_value(const ParameterSpec& spec, const std::string& text) {
  const bool is_number =
      spec.type == ParameterSpec::Type::kNumber || spec.type == ParameterSpec::Type::kInteger;
  const std::optional<double> number = is_number ? parse_number(text) : std::nullopt;
  return number ? format_exact(*number) : text;
}

std::vector<std::string> keys_of(const std::vector<ParameterSpec>& specs) {
  std::vector<std::string> keys{"name", "label"};
  for (const ParameterSpec& spec : specs) keys.push_back(spec.name);
  return keys;
}

/// Checked one by one first, so that an error has the place of the value that caused it.
std::string read_parameter(const YamlNode& value, const std::string& workload,
                           const ParameterSpec& spec) {
  const bool is_boolean = spec.type == ParameterSpec::Type::kBoolean;
  const std::vector<std::string> words =
      is_boolean ? std::vector<std::string>{"true", "false"} : spec.choices;
  std::string text = spec.type == ParameterSpec::Type::kText
                         ? read_text(value, quoted(spec.name))
                         : read_scalar(value, quoted(spec.name), words);
  if (spec.is_path) {
    with_place(value.origin,
               [&] { text = resolve_script_list(text, path_beside(".", value.origin)); });
  }
  with_place(value.origin, [&] { make_workload(workload, {{spec.name, text}}); });
  return canonical_value(spec, text);
}

}  // namespace

std::string workload_label(const YamlNode& item) {
  const YamlNode* label = item.find("label");
  return label != nullptr ? read_name(*label, "'label'") : read_name(name_node(item), "a workload");
}

WorkloadConfig read_workload(const YamlNode& item, std::map<std::string, Origin>& origins) {
  WorkloadConfig workload;
  workload.name = read_name(name_node(item), "a workload");
  workload.label = workload_label(item);
  std::vector<ParameterSpec> specs;
  with_place(name_node(item).origin, [&] { specs = workload_parameters(workload.name); });
  if (item.is_map()) check_map(item, "workload '" + workload.name + "'", keys_of(specs));

  const std::string path = "workloads." + workload.label;
  origins[path] = item.origin;
  for (const ParameterSpec& spec : specs) {
    const YamlNode* value = item.find(spec.name);
    workload.parameters[spec.name] = value == nullptr ? canonical_value(spec, spec.default_value)
                                                      : read_parameter(*value, workload.name, spec);
    origins[path + "." + spec.name] = value == nullptr ? Origin{} : value->origin;
  }
  with_place(item.origin, [&] { make_workload(workload.name, workload.parameters); });
  return workload;
}

}  // namespace numabench
