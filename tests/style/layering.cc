#include "tests/style/layering.h"

#include <algorithm>
#include <fstream>
#include <regex>

namespace numabench {
namespace {

namespace fs = std::filesystem;

struct Layer {
  std::string folder;
  std::vector<std::string> may_use;  // beside itself
};

// The map of README.md. A file belongs to the first layer whose folder it is in, so the folders
// inside runner/ come before it.
const std::vector<Layer>& layers() {
  static const std::vector<Layer> kLayers = {
      {"hosts", {}},
      {"workloads", {"hosts"}},
      {"reports", {"hosts"}},
      {"runner/measure", {"hosts", "reports"}},
      {"runner/patches", {"hosts", "reports"}},
      {"runner/config", {"hosts", "workloads", "reports", "runner/measure", "runner/patches"}},
      {"runner/arms",
       {"hosts", "workloads", "reports", "runner/measure", "runner/patches", "runner/config"}},
      {"runner/engines",
       {"hosts", "workloads", "reports", "runner/measure", "runner/patches", "runner/config",
        "runner/arms"}},
      {"runner",
       {"hosts", "workloads", "reports", "runner/measure", "runner/patches", "runner/config",
        "runner/arms", "runner/engines"}},
  };
  return kLayers;
}

// nullptr for a path in none of the layers.
const Layer* layer_of(const std::string& path) {
  for (const Layer& layer : layers()) {
    if (path.starts_with(layer.folder + "/")) return &layer;
  }
  return nullptr;
}

// Empty when a file of `from` may include "included".
std::string objection(const Layer& from, const std::string& included) {
  const Layer* to = layer_of(included);
  if (to == nullptr) {
    return "\"" + included +
           "\" is not written from the top folder; start it with the layer's name";
  }
  const bool allowed =
      to->folder == from.folder || std::ranges::count(from.may_use, to->folder) > 0;
  if (allowed) return "";
  return "\"" + included + "\" points out of " + from.folder + "/ to " + to->folder +
         "/; includes go downwards only";
}

void check_file(const fs::path& file, const std::string& path, const Layer& layer,
                std::vector<std::string>& violations) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*\"([^\"]+)\")");
  std::ifstream in(file);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::smatch match;
    if (!std::regex_search(line, match, kInclude)) continue;
    const std::string problem = objection(layer, match[1]);
    if (!problem.empty()) {
      violations.push_back(path + ":" + std::to_string(number) + ": " + problem);
    }
  }
}

}  // namespace

std::vector<std::string> layering_violations(const fs::path& root) {
  std::vector<std::string> violations;
  for (const char* top : {"hosts", "workloads", "reports", "runner"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      const std::string path = entry.path().lexically_relative(root);
      check_file(entry.path(), path, *layer_of(path), violations);
    }
  }
  std::ranges::sort(violations);
  return violations;
}

}  // namespace numabench
