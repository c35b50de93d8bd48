#include "runner/patches/mbox.h"

#include <cctype>

#include "runner/patches/mail.h"
#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// A line of '>'s and "From ": the mailbox has quoted it.
bool is_quoted_from(std::string_view line) {
  const std::size_t start = line.find_first_not_of('>');
  return start != 0 && start != std::string_view::npos && line.substr(start).starts_with("From ");
}

std::string unquoted(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::string_view line : lines_of(text)) {
    if (is_quoted_from(line)) line.remove_prefix(1);
    result += line;
  }
  return result;
}

// Where the multipart that begins at `text` ends; 0 when it is none or is never closed.
std::size_t multipart_length(std::string_view text) {
  const std::string header(text.substr(0, header_length(text)));
  const std::string boundary = parse_mail(header).type_parameter("boundary");
  if (boundary.empty()) return 0;
  const std::size_t closing = text.find("\n--" + boundary + "--");
  return closing == std::string_view::npos ? 0 : closing;
}

// The length of the first message of `text`: up to the next from line or the end.
std::size_t message_length(std::string_view text) {
  std::size_t length = 0;
  const std::size_t skipped = multipart_length(text);
  bool after_empty_line = false;
  for (const std::string_view line : lines_of(text)) {
    const bool separates =
        length >= skipped && is_from_line(line) && (after_empty_line || is_git_from_line(line));
    if (separates) break;
    after_empty_line = without_line_end(line).empty();
    length += line.size();
  }
  return length;
}

}  // namespace

bool is_from_line(std::string_view line) {
  if (!line.starts_with("From ")) return false;
  line = without_line_end(line);
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || colon < 7 || colon + 2 >= line.size()) return false;
  if (!is_digit(line[colon - 1]) || !is_digit(line[colon + 1])) return false;
  const std::string_view rest = line.substr(colon + 3);
  for (std::size_t i = 0; i + 4 <= rest.size(); ++i) {
    if (is_digit(rest[i]) && is_digit(rest[i + 1]) && is_digit(rest[i + 2]) &&
        is_digit(rest[i + 3])) {
      return true;
    }
  }
  return false;
}

bool is_git_from_line(std::string_view line) {
  constexpr std::size_t kHash = 5;
  const std::string_view content = without_line_end(line);
  return content.starts_with("From ") && content.ends_with(" Mon Sep 17 00:00:00 2001") &&
         content.find_first_not_of("0123456789abcdef", kHash) >= kHash + 40;
}

std::vector<MboxMessage> split_mbox(std::string_view text) {
  std::vector<MboxMessage> messages;
  while (!text.empty()) {
    const std::size_t first_end = std::min(text.find('\n'), text.size() - 1) + 1;
    MboxMessage message;
    message.from_line = text.substr(0, first_end);
    text.remove_prefix(first_end);
    const std::size_t length = message_length(text);
    message.text = unquoted(text.substr(0, length));
    text.remove_prefix(length);
    messages.push_back(std::move(message));
  }
  return messages;
}

}  // namespace numabench
