// The keys of an experiment that only a server's engine has a use for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/config/experiment.h"
#include "runner/config/yaml_tree.h"

namespace numabench {

/// build, settings, server_user, pgbench, counters and require_full_pool.
const std::vector<std::string>& server_keys();

/// Reads those that the experiment's map has and records the origin of all. Throws Error(kUsage) at
/// the place of what is wrong.
void read_server_section(const YamlNode& root, Experiment& experiment,
                         std::map<std::string, Origin>& origins);

/// As configs spell them.
std::string to_string(BuildOptions::System system);
std::string to_string(PgbenchOptions::Protocol protocol);
std::string log_sampling_text(const PgbenchOptions& pgbench);
std::string to_string(Counters counters);

}  // namespace numabench
