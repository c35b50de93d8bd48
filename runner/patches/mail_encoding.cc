#include "runner/patches/mail_encoding.h"

#include <algorithm>
#include <optional>

#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

int base64_value(char c) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t value = kAlphabet.find(c);
  return value == std::string_view::npos ? -1 : static_cast<int>(value);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte that the two hex digits at `position` are.
std::optional<char> hex_byte(std::string_view text, std::size_t position) {
  if (position + 2 > text.size()) return std::nullopt;
  const int high = hex_value(text[position]);
  const int low = hex_value(text[position + 1]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

std::string decode_escapes(std::string_view text, char escape) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::optional<char> byte =
        text[i] == escape ? hex_byte(text, i + 1) : std::optional<char>();
    bytes += byte.value_or(text[i]);
    if (byte) i += 2;
  }
  return bytes;
}

struct EncodedWord {
  std::string decoded;
  std::size_t length = 0;
};

// The encoded word that `text` begins with: =?charset?encoding?payload?=
std::optional<EncodedWord> encoded_word(std::string_view text) {
  if (!text.starts_with("=?")) return std::nullopt;
  const std::size_t charset_end = text.find('?', 2);
  if (charset_end == std::string_view::npos || charset_end + 2 >= text.size() ||
      text[charset_end + 2] != '?') {
    return std::nullopt;
  }
  const std::size_t begin = charset_end + 3;
  const std::size_t end = text.find("?=", begin);
  if (end == std::string_view::npos) return std::nullopt;
  std::string payload(text.substr(begin, end - begin));
  const char encoding = text[charset_end + 1];
  if (encoding == 'b' || encoding == 'B') return EncodedWord{decode_base64(payload), end + 2};
  if (encoding != 'q' && encoding != 'Q') return std::nullopt;
  std::replace(payload.begin(), payload.end(), '_', ' ');
  return EncodedWord{decode_escapes(payload, '='), end + 2};
}

}  // namespace

std::string decode_base64(std::string_view text) {
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int value = base64_value(c);
    if (value < 0) continue;
    bits = bits << 6 | static_cast<unsigned>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

std::string decode_quoted_printable(std::string_view text) {
  std::string joined;
  for (const std::string_view line : lines_of(text)) {
    const std::string_view end = line.substr(without_line_end(line).size());
    std::string_view content = without_line_end(line);
    // Trailing white space was added on the way: RFC 2045 has the sender encode its own.
    content = content.substr(0, content.find_last_not_of(" \t") + 1);
    const bool continues = content.ends_with('=');
    if (continues) content.remove_suffix(1);
    joined += decode_escapes(content, '=');
    if (!continues) joined += end;
  }
  return joined;
}

std::string decode_percent(std::string_view text) { return decode_escapes(text, '%'); }

std::string decode_words(std::string_view header) {
  std::string decoded;
  std::string space;  // not yet written: it may stand between two encoded words
  bool after_word = false;
  while (!header.empty()) {
    if (const std::optional<EncodedWord> word = encoded_word(header)) {
      if (!after_word) decoded += space;
      space.clear();
      decoded += word->decoded;
      header.remove_prefix(word->length);
      after_word = true;
      continue;
    }
    if (header.front() == ' ' || header.front() == '\t') {
      space += header.front();
    } else {
      decoded += space + header.front();
      space.clear();
      after_word = false;
    }
    header.remove_prefix(1);
  }
  return decoded + space;
}

}  // namespace numabench
