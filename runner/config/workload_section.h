// An entry of `workloads`: the name of the registry, or a map of it with its parameters.
#pragma once

#include <map>
#include <string>

#include "runner/config/experiment.h"
#include "runner/config/yaml_tree.h"

namespace numabench {

/// What the rest of the experiment calls the entry: its label, or its name.
std::string workload_label(const YamlNode& item);

/// All parameters, defaults included; their origins go under "workloads.LABEL.". Throws
/// Error(kUsage).
WorkloadConfig read_workload(const YamlNode& item, std::map<std::string, Origin>& origins);

}  // namespace numabench
