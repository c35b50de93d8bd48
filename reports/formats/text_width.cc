#include "reports/formats/text_width.h"

#include <algorithm>
#include <array>
#include <utility>

namespace numabench {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

/// The first character of `text`, which must not be empty. A malformed one is one byte, code
/// 0xFFFD.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {0xFFFD, 1};
  char32_t code = lead & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {0xFFFD, 1};
    code = (code << 6) | (next & 0x3Fu);
  }
  return {code, bytes};
}

using Range = std::pair<char32_t, char32_t>;

template <std::size_t kSize>
bool in_ranges(const std::array<Range, kSize>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](const Range& range) {
    return code >= range.first && code <= range.second;
  });
}

/// Blocks, not single characters: enough for names in any script, without a Unicode table.
std::size_t character_width(char32_t code) {
  static constexpr std::array<Range, 5> kCombining = {
      {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};
  static constexpr std::array<Range, 6> kWide = {{{0x1100, 0x115F},
                                                  {0x2E80, 0xA4CF},
                                                  {0xAC00, 0xD7A3},
                                                  {0xF900, 0xFAFF},
                                                  {0xFF00, 0xFF60},
                                                  {0x1F300, 0x3FFFD}}};
  if (in_ranges(kCombining, code)) return 0;
  return in_ranges(kWide, code) ? 2 : 1;
}

/// The longest prefix of `text` that fits into `width` columns.
std::string_view prefix_of_width(std::string_view text, std::size_t width) {
  std::size_t bytes = 0;
  std::size_t used = 0;
  while (bytes < text.size()) {
    const Character character = first_character(text.substr(bytes));
    used += character_width(character.code);
    if (used > width) break;
    bytes += character.bytes;
  }
  return text.substr(0, bytes);
}

/// The bytes at the start of `text` that print nothing: one blank or control character, or a whole
/// escape sequence that sets colours or moves the cursor (ECMA-48: ESC [ … a byte from @ to ~).
std::size_t blank_length(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte > 0x20 && byte != 0x7F) return 0;
  if (!text.starts_with("\x1b[")) return 1;
  const auto end = std::find_if(text.begin() + 2, text.end(), [](char c) { return c >= '@'; });
  return static_cast<std::size_t>(end - text.begin()) + (end == text.end() ? 0 : 1);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += character_width(character.code);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string pad(std::string_view text, std::size_t width, bool align_right) {
  const std::size_t used = display_width(text);
  const std::string blanks(used < width ? width - used : 0, ' ');
  return align_right ? blanks + std::string(text) : std::string(text) + blanks;
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string line;
  bool gap = false;
  while (!text.empty()) {
    const std::size_t blank = blank_length(text);
    if (blank > 0) {
      gap = !line.empty();
      text.remove_prefix(blank);
      continue;
    }
    if (gap) line += ' ';
    gap = false;
    line += text.front();
    text.remove_prefix(1);
  }
  if (display_width(line) <= limit) return line;
  return std::string(prefix_of_width(line, limit - 1)) + "…";
}

}  // namespace numabench
