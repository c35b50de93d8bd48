// --set a.b.c=value: an edit of the tree before anything is typed, so that the same checks hold.
#pragma once

#include <string>

#include "runner/config/yaml_tree.h"

namespace numabench {

/// `argument` is "path=value", the value in YAML. The path goes through keys; through lists by
/// index or, for arms, workloads and placements, by name (a workload's label). A name in such a
/// list becomes a map when the path goes into it, and an arm of the directory one that extends its
/// file. Missing keys are added: a misspelled one is found by the checks that follow. Places of
/// what was set read "--set a.b.c=value". Throws Error(kUsage).
void apply_set(YamlNode& root, const std::string& argument);

}  // namespace numabench
