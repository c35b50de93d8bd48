// SHA-256 as 64 hex digits: the identity of plans, configs and artefacts.
#pragma once

#include <string>
#include <string_view>

namespace numabench {

std::string sha256_hex(std::string_view text);

}  // namespace numabench
