// Files that hold patches in a form that is not read.
#pragma once

#include <string>
#include <string_view>

namespace numabench {

/// "a gzip file", "a ZIP archive", "UTF-16 text", …, by the first bytes; empty for text.
std::string unreadable_form(std::string_view content);

/// Throws Error(kUsage) naming `name` when unreadable_form() is not empty.
void refuse_unreadable_form(std::string_view content, const std::string& name);

}  // namespace numabench
