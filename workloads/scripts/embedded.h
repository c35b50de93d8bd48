// The table of scripts that workloads/CMakeLists.txt generates; scripts.h is what to use.
#pragma once

#include <string_view>
#include <vector>

namespace numabench {

struct EmbeddedScript {
  std::string_view name;  ///< without ".pgb"
  std::string_view text;
};

const std::vector<EmbeddedScript>& embedded_scripts();

}  // namespace numabench
