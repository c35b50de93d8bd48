#include "workloads/script_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "hosts/error.h"

namespace numabench {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

[[noreturn]] void refuse(std::string_view entry) {
  throw Error(ErrorKind::kUsage, fmt::format("'{}' does not name a pgbench script", entry),
              "write PATH or PATH@WEIGHT, with a weight of at least 1");
}

ListedScript parse_entry(std::string_view entry) {
  const std::size_t at = entry.rfind('@');
  ListedScript script;
  script.path = entry.substr(0, at);
  if (at != std::string_view::npos) {
    const std::string_view weight = entry.substr(at + 1);
    const auto [end, error] =
        std::from_chars(weight.data(), weight.data() + weight.size(), script.weight);
    if (error != std::errc{} || end != weight.data() + weight.size() || script.weight < 1) {
      refuse(entry);
    }
  }
  if (script.path.empty()) refuse(entry);
  return script;
}

}  // namespace

std::vector<ListedScript> parse_script_list(const std::string& text) {
  std::vector<ListedScript> scripts;
  std::string_view rest = text;
  while (!trimmed(rest).empty()) {
    const std::size_t length = std::min(rest.find(','), rest.size());
    scripts.push_back(parse_entry(trimmed(rest.substr(0, length))));
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return scripts;
}

std::string resolve_script_list(const std::string& text, const std::string& folder) {
  const std::filesystem::path base = std::filesystem::absolute(folder);
  std::string resolved;
  for (const ListedScript& script : parse_script_list(text)) {
    if (!resolved.empty()) resolved += ", ";
    resolved +=
        fmt::format("{}@{}", (base / script.path).lexically_normal().string(), script.weight);
  }
  return resolved;
}

}  // namespace numabench
