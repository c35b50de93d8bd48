// The user's pgbench scripts, as configs name them: "PATH[@WEIGHT], PATH[@WEIGHT], …".
#pragma once

#include <string>
#include <vector>

namespace numabench {

struct ListedScript {
  std::string path;
  int weight = 1;
};

/// Blanks around the paths are dropped; what follows the last @ of an entry is its weight, as for
/// pgbench -f. Empty for an empty text. Throws Error(kUsage) for an entry without a path or with a
/// weight that is not an integer of at least 1.
std::vector<ListedScript> parse_script_list(const std::string& text);

/// `text` with its relative paths made absolute, from `folder` on. Throws like parse_script_list().
std::string resolve_script_list(const std::string& text, const std::string& folder);

}  // namespace numabench
