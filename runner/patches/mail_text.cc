#include "runner/patches/mail_text.h"

#include "runner/patches/diff_text.h"
#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

std::string_view unstuffed(std::string_view line) {
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

bool is_scissors(std::string_view line) {
  line = trimmed(line);
  bool has_scissors = false;
  int dashes = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view two = line.substr(i, 2);
    if (two == ">8" || two == "8<" || two == ">%" || two == "%<") {
      has_scissors = true;
      ++i;
    } else if (line[i] == '-') {
      ++dashes;
    } else if (line[i] != ' ') {
      // Words such as "cut here" between the dashes are allowed while dashes are the greater part.
      --dashes;
    }
  }
  return has_scissors && dashes >= 2;
}

}  // namespace

std::string undo_stuffing(std::string_view text) {
  std::string result;
  for (const std::string_view line : lines_of(text)) result += unstuffed(line);
  return result;
}

std::string undo_flowed(std::string_view text, bool delete_space) {
  std::string result;
  for (const std::string_view line : lines_of(text)) {
    const std::string_view content = unstuffed(without_line_end(line));
    const bool is_signature = content == "-- ";
    if (is_signature && !result.empty() && !result.ends_with('\n')) result += '\n';
    result += content;
    if (is_signature || !content.ends_with(' ')) {
      result += '\n';
    } else if (delete_space) {
      result.pop_back();
    }
  }
  return result;
}

std::string below_scissors(std::string_view text) {
  std::size_t start = 0;
  std::size_t position = 0;
  for (const std::string_view line : lines_of(text)) {
    if (begins_diff(text.substr(position))) break;
    position += line.size();
    if (is_scissors(line)) start = position;
  }
  return std::string(text.substr(start));
}

}  // namespace numabench
