#include "hosts/system_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "hosts/error.h"

namespace numabench {

void throw_errno(const std::string& call) {
  throw Error(ErrorKind::kRun, fmt::format("{} failed: {}", call, std::strerror(errno)));
}

}  // namespace numabench
