#include "runner/patches/diff_text.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <vector>

#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

/// Lines that a hunk still has to bring.
struct HunkCounts {
  int old_lines = 1;
  int new_lines = 1;

  bool done() const { return old_lines <= 0 && new_lines <= 0; }

  /// False when `line` cannot be of a hunk.
  bool take(std::string_view line) {
    const std::string_view content = without_line_end(line);
    // An empty line is an empty context line that lost its space on the way; git takes it too.
    const char kind = content.empty() ? ' ' : content.front();
    if (kind == '\\') return true;
    if (kind != ' ' && kind != '-' && kind != '+') return false;
    if (kind != '+') --old_lines;
    if (kind != '-') --new_lines;
    return old_lines >= 0 && new_lines >= 0;
  }
};

// "@@ -12,7 +12,9 @@ function": a count that is left out is 1.
std::optional<HunkCounts> hunk_counts(std::string_view line) {
  if (!line.starts_with("@@ -")) return std::nullopt;
  const std::string text(line);
  HunkCounts counts;
  int start = 0;
  int length = 0;
  if (std::sscanf(text.c_str(), "@@ -%d,%d%n", &start, &counts.old_lines, &length) < 2) {
    counts.old_lines = 1;
    if (std::sscanf(text.c_str(), "@@ -%d%n", &start, &length) < 1) return std::nullopt;
  }
  const char* rest = text.c_str() + length;
  if (std::sscanf(rest, " +%d,%d", &start, &counts.new_lines) < 2) {
    counts.new_lines = 1;
    if (std::sscanf(rest, " +%d", &start) < 1) return std::nullopt;
  }
  return counts;
}

// A line that may stand behind a whole hunk: the end of a wrapped line may not.
bool may_follow_hunk(std::string_view line) {
  const std::string_view content = without_line_end(line);
  if (content.empty() || content == "-- " || content == "--") return true;
  for (const std::string_view start : {"@@ ", "diff ", "--- ", "Index: ", "\\ ", "From "}) {
    if (content.starts_with(start)) return true;
  }
  return false;
}

// Calls `in_hunk` with each line of a hunk, `outside` with the others; returns the first damage.
template <typename InHunk, typename Outside>
std::string walk(std::string_view text, InHunk in_hunk, Outside outside) {
  std::string damage;
  std::optional<HunkCounts> hunk;
  std::size_t hunk_line = 0;
  std::size_t number = 0;
  const auto incomplete = [&](std::size_t end) {
    if (damage.empty())
      damage = fmt::format("the hunk in line {} breaks off in line {}", hunk_line, end);
    hunk.reset();
  };
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (hunk && hunk->done()) {
      if (!may_follow_hunk(line)) incomplete(number);
      hunk.reset();
    }
    if (hunk && hunk->take(line)) {
      in_hunk(line);
      continue;
    }
    if (hunk) incomplete(number);
    outside(line);
    hunk = hunk_counts(line);
    hunk_line = number;
  }
  if (hunk && !hunk->done()) incomplete(number);
  return damage;
}

bool starts_any(std::string_view line, std::string_view first, std::string_view second) {
  return line.starts_with(first) || line.starts_with(second);
}

}  // namespace

bool begins_diff(std::string_view text) {
  if (text.starts_with("diff --git ")) return true;
  if (!text.starts_with("--- ")) return false;
  const std::size_t second = text.find('\n');
  if (second == std::string_view::npos || !text.substr(second + 1).starts_with("+++ ")) {
    return false;
  }
  const std::size_t third = text.find('\n', second + 1);
  return third != std::string_view::npos && text.substr(third + 1).starts_with("@@ -");
}

bool has_diff(std::string_view text) {
  for (std::size_t start = 0; start < text.size();) {
    if (begins_diff(text.substr(start))) return true;
    const std::size_t end = text.find('\n', start);
    if (end == std::string_view::npos) break;
    start = end + 1;
  }
  return false;
}

bool has_context_diff(std::string_view text) {
  return text.find("\n***************\n") != std::string_view::npos ||
         text.find("\n***************\r\n") != std::string_view::npos;
}

std::string diff_damage(std::string_view text) {
  return walk(
      text, [](std::string_view) {}, [](std::string_view) {});
}

bool hunks_have_cr(std::string_view text) {
  bool found = false;
  walk(
      text, [&](std::string_view line) { found = found || line.ends_with("\r\n"); },
      [](std::string_view) {});
  return found;
}

bool headers_have_cr(std::string_view text) {
  bool found = false;
  walk(
      text, [](std::string_view) {},
      [&](std::string_view line) {
        found = found || (starts_any(line, "+++ ", "diff --git ") && line.ends_with("\r\n"));
      });
  return found;
}

}  // namespace numabench
