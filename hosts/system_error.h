// Failed system calls as errors.
#pragma once

#include <string>

namespace numabench {

/// Throws Error(kRun) "`call` failed: " and errno's text.
[[noreturn]] void throw_errno(const std::string& call);

}  // namespace numabench
