// A list of names, some of which are defined where they stand: arms, workloads, placements.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runner/config/factors.h"
#include "runner/config/yaml_tree.h"

namespace numabench {

/// One of the three kinds. A name that is new is defined when it is first listed; the lists of
/// later matrix blocks refer to it by name.
class Definitions {
 public:
  /// `kind` for errors: "arm". `name_of` reads an item's name; `define` makes what it names and
  /// returns the names of that: usually the one, several for a series of arms.
  Definitions(std::string kind, std::function<std::string(const YamlNode&)> name_of,
              std::function<std::vector<std::string>(const YamlNode&)> define);

  /// Throws Error(kUsage) for a name twice in one list and for a second definition.
  std::vector<Placed<std::string>> read(const YamlNode& list);

 private:
  std::string kind_;
  std::function<std::string(const YamlNode&)> name_of_;
  std::function<std::vector<std::string>(const YamlNode&)> define_;
  std::map<std::string, Origin> defined_;
  std::map<std::string, std::vector<std::string>> stands_for_;
};

}  // namespace numabench
