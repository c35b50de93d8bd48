// Arms: named by the experiment or read from arms/NAME.yaml, each on top of what it extends.
//
// An arm may say how it is in both engines: `policy` is the embedded engine's, `source`, `patches`,
// `series` and `settings` are a server's, so that one experiment runs on either.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/config/arm_sources.h"
#include "runner/config/experiment.h"
#include "runner/config/yaml_tree.h"

namespace numabench {

/// Where an arm may be written, and the one rule of names: what an experiment says in `extends` is
/// looked for among its other inline arms and then in the directory; an arm's file sees only the
/// directory. So a file means the same in every experiment, and an inline arm may extend the file
/// of its own name.
class ArmResolver {
 public:
  /// `directory` holds NAME.yaml; `inline_arms` are the experiment's maps and must outlive this.
  ArmResolver(std::string directory, std::vector<const YamlNode*> inline_arms);

  /// `item` is a name or an inline map. What an arm extends gives its switches, its settings and
  /// its source unless the arm has its own, and its patches before the arm's own. The result is one
  /// arm or, with `series: each-prefix`, one for each patch: with the first, the first two, …,
  /// named NAME-0001 by the patches' own numbers where all have one, else by their positions. An
  /// engine that ignores patches gets a series as the one arm NAME. Records origins under
  /// "arms.NAME.". Throws Error(kUsage) at the place of what is wrong.
  std::vector<Arm> resolve(const YamlNode& item, PatchFiles files,
                           std::map<std::string, Origin>& origins);

 private:
  struct Source {
    const YamlNode* node = nullptr;
    std::string name;
    bool is_file = false;
  };

  /// Adds what one layer of the chain says to `arm`.
  void apply(const Source& layer, PatchFiles files, Arm& arm,
             std::map<std::string, Origin>& origins) const;
  std::vector<Source> chain_of(const YamlNode& item);
  Source source_of(const YamlNode& item);
  Source base_of(const Source& source, const YamlNode& extends);
  Source file_source(const std::string& name, const Origin& wanted_at);
  const YamlNode* find_inline(const std::string& name) const;
  [[noreturn]] void not_defined(const std::string& name, const Origin& where) const;

  std::string directory_;
  std::vector<const YamlNode*> inline_arms_;
  std::map<std::string, YamlNode> files_;  ///< read so far, by name
};

}  // namespace numabench
