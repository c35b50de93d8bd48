// What makes an arm of a server: where its sources come from, its patches, its settings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/config/experiment.h"
#include "runner/config/yaml_tree.h"

namespace numabench {

/// What becomes of the files that `patches` names.
enum class PatchFiles {
  kIgnore,  ///< the engine has no use for them: they need not exist
  kExpand,  ///< paths and patterns, relative to the file that names them
  kKeep,    ///< paths as an expanded experiment has them
};

/// `text` as a path relative to the folder of the file that `where` is in, or, for what the command
/// line says, to the current one. Absolute; `~` and environment variables are not expanded.
std::string path_beside(const std::string& text, const Origin& where);

/// {git: URL or path, commit: …}, {tarball: URL or path}, {debian: package} or {bindir: folder}.
/// Throws Error(kUsage) at the place of what is wrong; nothing is looked for.
ArmSource read_arm_source(const YamlNode& node);

/// One path or pattern (glob(3)) or a list of them -> files; those of a pattern in the order of
/// their names. Throws Error(kUsage) for one that matches no file.
std::vector<std::string> read_patch_files(const YamlNode& node, PatchFiles files);

/// {name: value}, added to `settings` with the values as they are written: on, off and 0640 are
/// the server's to understand. Origins under `path`.
void read_settings(const YamlNode& node, const std::string& path,
                   std::map<std::string, std::string>& settings,
                   std::map<std::string, Origin>& origins);

}  // namespace numabench
