// The renderers that registry.cc lists, one .cc each.
#pragma once

#include <string>

#include "reports/formats/format.h"

namespace numabench {

std::string render_terminal(const Comparison& comparison, const FormatOptions& options);
std::string render_markdown(const Comparison& comparison, const FormatOptions& options);
std::string render_csv(const Comparison& comparison, const FormatOptions& options);
std::string render_json(const Comparison& comparison, const FormatOptions& options);

}  // namespace numabench
