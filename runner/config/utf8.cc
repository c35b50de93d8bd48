#include "runner/config/utf8.h"

#include <cstdint>

namespace numabench {
namespace {

/// Bytes in the sequence that begins with `lead`; 0 when none does. `code` becomes its payload
/// bits.
std::size_t sequence_length(unsigned char lead, std::uint32_t& code) {
  code = lead;
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  if (lead >= 0xf0)
    code = lead & 0x07u;
  else if (lead >= 0xe0)
    code = lead & 0x0fu;
  else
    code = lead & 0x1fu;
  return lead >= 0xf8 || lead < 0xc0 ? 0 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
}

bool is_code_point(std::uint32_t code, std::size_t length) {
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code >= kSmallest[length] && code <= 0x10ffff && !surrogate;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint32_t code = 0;
    const std::size_t length = sequence_length(static_cast<unsigned char>(text[at]), code);
    if (length == 0 || length > text.size() - at) return at;
    for (std::size_t next = at + 1; next < at + length; ++next) {
      const auto byte = static_cast<unsigned char>(text[next]);
      if ((byte & 0xc0u) != 0x80u) return at;
      code = code << 6 | (byte & 0x3fu);
    }
    if (length > 1 && !is_code_point(code, length)) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace numabench
