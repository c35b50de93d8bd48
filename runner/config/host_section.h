// The keys of an experiment about its host: profile, host_checks and host_settings.
//
// A profile is a YAML file of {description, host_checks, host_settings} for a kind of host, such as
// hosts/profiles/metal.yaml. What the experiment says itself comes before what its profile says.
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
/// "warn"; empty: as written. A profile's path is taken from `directory`, the config's; its name
/// stands for profiles/NAME.yaml there or ../hosts/profiles/NAME.yaml. Throws Error(kUsage) at the
/// place of what is wrong.
void read_host_section(const YamlNode& root, const std::string& directory,
                       const std::string& relaxed_by, Experiment& experiment,
                       std::map<std::string, Origin>& origins);

/// As configs spell it.
std::string to_string(HostChecks checks);

}  // namespace numabench
