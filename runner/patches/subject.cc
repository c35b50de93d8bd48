#include "runner/patches/subject.h"

#include <fmt/format.h>

#include <cctype>
#include <regex>

#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

// File names of git format-patch are no longer.
constexpr std::size_t kLongestName = 52;

int first_group(std::string_view text, const std::regex& pattern) {
  std::cmatch match;
  if (!std::regex_search(text.data(), text.data() + text.size(), match, pattern)) return 0;
  return std::stoi(match[1].str());
}

std::string_view without_prefixes(std::string_view subject) {
  subject = trimmed(subject);
  while (subject.starts_with('[') && subject.find(']') != std::string_view::npos) {
    subject = trimmed(subject.substr(subject.find(']') + 1));
  }
  return subject;
}

}  // namespace

int number_of_subject(std::string_view subject) {
  static const std::regex pattern(R"(\[[^\]]*\b(\d{1,4})/\d{1,4}\])");
  return first_group(subject, pattern);
}

int number_of_file_name(std::string_view name) {
  static const std::regex pattern(R"(^(?:[vV]\d{1,4}[a-z]?-)?(\d{4})-)");
  return first_group(name, pattern);
}

std::string file_name_of_subject(std::string_view subject) {
  std::string name;
  for (const char c : without_prefixes(subject)) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    if (kept) name += c;
    if (!kept && !name.empty() && !name.ends_with('-')) name += '-';
  }
  name = name.substr(0, kLongestName);
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  if (name.empty()) name = "unnamed";
  const int number = number_of_subject(subject);
  return (number > 0 ? fmt::format("{:04}-", number) : "") + name + ".patch";
}

}  // namespace numabench
