// Whether a file is text at all, before a parser is asked.
#pragma once

#include <cstddef>
#include <string_view>

namespace numabench {

/// The offset of the first byte that is not part of a well-formed UTF-8 sequence (RFC 3629: no
/// overlong forms, no surrogates, nothing above U+10FFFF) or is NUL; npos if there is none.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace numabench
