// `aa: true`: the baseline arm a second time, under another name and the same conditions. What the
// two differ by is the noise floor.
#pragma once

#include <map>
#include <string>

#include "runner/config/experiment.h"
#include "runner/config/yaml_tree.h"

namespace numabench {

/// Without the key: where the numbers may be published and there is an arm to compare with.
bool wants_baseline_copy(const YamlNode* key, const Experiment& experiment);

/// Adds the arm BASELINE-aa behind the baseline and, last, a cell of it for each of the baseline's.
/// Throws Error(kUsage) when the experiment has an arm of that name.
void add_baseline_copy(Experiment& experiment, std::map<std::string, Origin>& origins);

}  // namespace numabench
