// The keys that say in which order runs are taken, what is watched meanwhile and what voids a run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/config/experiment.h"
#include "runner/config/yaml_tree.h"

namespace numabench {

const std::vector<std::string>& measure_keys();

/// Reads them from an experiment's map. Throws Error(kUsage).
void read_measure_section(const YamlNode& root, Experiment& experiment,
                          std::map<std::string, Origin>& origins);

}  // namespace numabench
