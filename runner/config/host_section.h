// The keys of an experiment about its host: host_checks and host_settings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/config/experiment.h"
#include "runner/config/yaml_tree.h"

namespace numabench {

const std::vector<std::string>& host_keys();

/// Reads those that the experiment's map has and records the origin of all. `relaxed_by` is the
/// option that makes the experiment a small one, for which any host will do: "enforce" becomes
/// "warn"; empty: as written. Throws Error(kUsage) at the place of what is wrong.
void read_host_section(const YamlNode& root, const std::string& relaxed_by, Experiment& experiment,
                       std::map<std::string, Origin>& origins);

/// As configs spell it.
std::string to_string(HostChecks checks);

}  // namespace numabench
