// The rule that includes point downwards, as a function that tests can also turn on a planted tree.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace numabench {

/// One "file:line: what is wrong" for every include in the layers below `root` that points upwards
/// or sideways, or is not written from the top folder. Empty when the layering holds.
std::vector<std::string> layering_violations(const std::filesystem::path& root);

}  // namespace numabench
