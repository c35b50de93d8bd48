#include "runner/measure/readings.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>

#include "hosts/files.h"

namespace numabench {

std::optional<double> GrowingCounter::grown_to(double now) {
  const std::optional<double> before = last_;
  last_ = now;
  if (!before || now < *before) return std::nullopt;
  return now - *before;
}

FileText read_file_below(const std::string& root, const std::string& path) {
  const auto text = read_text_file(root + path);
  if (!text) return {"", fmt::format("{}: {}", path, std::strerror(errno))};
  return {*text, ""};
}

std::map<std::string, double, std::less<>> named_numbers(std::string_view text) {
  std::map<std::string, double, std::less<>> numbers;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    for (std::string word; words >> word;) {
      const std::optional<double> number = number_of(word);
      if (number && !name.empty()) numbers.emplace(name, *number);
      if (!number) name = word.substr(0, word.find(':'));
    }
  }
  return numbers;
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace numabench
