// What a report says of how an arm was built, from the JSON that the builder left in the store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/store.h"

namespace numabench {

struct PatchFacts {
  std::string name;
  std::string sha256;
};

/// Members of runner/arms/arm_build.h; empty where the record has none.
struct ArmFacts {
  std::string failure;  ///< why it could not be built; empty when it was
  std::string version;
  std::string source;
  std::vector<PatchFacts> patches;  ///< in the order in which they were applied
  std::string build_id;
  std::string compiler;
  std::string cflags;
};

/// nullopt for an arm without a build, and for a record that is not the builder's.
std::optional<ArmFacts> arm_facts(const ArmRecord& arm);

}  // namespace numabench
