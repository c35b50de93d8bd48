#include "runner/config/baseline_copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/config/yaml_reader.h"

namespace numabench {
namespace {

bool has_another_arm(const Experiment& experiment) {
  return std::ranges::any_of(
      experiment.cells, [&](const FactorSet& cell) { return cell.arm != experiment.baseline; });
}

Arm copy_of(const Arm& original) {
  Arm copy = original;
  copy.name += "-aa";
  copy.description = fmt::format("{} once more: what the two differ by is noise", original.name);
  copy.series.clear();
  copy.copy_of = original.name;
  return copy;
}

/// What the copy has comes from where the original's does.
void copy_origins(const std::string& from, const std::string& to,
                  std::map<std::string, Origin>& origins) {
  std::map<std::string, Origin> copies;
  for (auto entry = origins.lower_bound(from); entry != origins.end(); ++entry) {
    if (!entry->first.starts_with(from)) break;
    copies[to + entry->first.substr(from.size())] = entry->second;
  }
  origins.merge(copies);
}

}  // namespace

bool wants_baseline_copy(const YamlNode* key, const Experiment& experiment) {
  if (key != nullptr) return read_boolean(*key, "'aa'");
  return experiment.is_publishable() && has_another_arm(experiment);
}

void add_baseline_copy(Experiment& experiment, std::map<std::string, Origin>& origins) {
  const auto original = std::ranges::find(experiment.arms, experiment.baseline, &Arm::name);
  const Arm copy = copy_of(*original);
  if (std::ranges::find(experiment.arms, copy.name, &Arm::name) != experiment.arms.end()) {
    config_error(origins["arms." + copy.name],
                 fmt::format("arm '{}' has the name of the baseline's copy (aa: true)", copy.name),
                 "give it another name, or write aa: false");
  }
  origins["arms." + copy.name] = origins["aa"];
  copy_origins("arms." + copy.copy_of + ".", "arms." + copy.name + ".", origins);
  experiment.arms.insert(original + 1, copy);
  const std::size_t cells = experiment.cells.size();
  for (std::size_t i = 0; i < cells; ++i) {
    if (experiment.cells[i].arm != experiment.baseline) continue;
    FactorSet cell = experiment.cells[i];
    cell.arm = copy.name;
    copy_origins(fmt::format("cells.{}.", i), fmt::format("cells.{}.", experiment.cells.size()),
                 origins);
    experiment.cells.push_back(std::move(cell));
  }
}

}  // namespace numabench
