#include "runner/config/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "hosts/error.h"
#include "hosts/spelling.h"
#include "hosts/units.h"

namespace numabench {
namespace {

constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";

std::string kind_name(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "empty";
    case YamlNode::Kind::kScalar:
      return quoted(node.text);
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      break;
  }
  return "a map";
}

[[noreturn]] void wrong_type(const YamlNode& node, const std::string& what,
                             const std::string& wanted, const std::string& remedy) {
  config_error(node.origin, fmt::format("{} must be {}, not {}", what, wanted, kind_name(node)),
               remedy);
}

/// YAML 1.1 reads these as booleans, YAML 1.2 as text.
bool is_ambiguous_word(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const char* word : {"yes", "no", "on", "off", "y", "n"}) {
    if (text == word) return true;
  }
  return false;
}

/// YAML 1.1 reads 0010 as 8, YAML 1.2 as 10.
bool has_leading_zero(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return text.size() > 1 && text.front() == '0' &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string without_leading_zeros(const std::string& text) {
  const std::size_t first = text.find_first_not_of("+-0");
  return first == std::string::npos ? "0" : text.substr(first);
}

/// Values that YAML readers disagree about, unless they are in quotes. `remedy` is for the words;
/// `or_quoted` says whether the digits in quotes would be accepted.
void refuse_ambiguous(const YamlNode& node, const std::string& what, const std::string& remedy,
                      bool or_quoted) {
  if (node.quoted) return;
  if (is_ambiguous_word(node.text)) {
    config_error(
        node.origin,
        fmt::format("{} is {}, which some YAML readers take for a boolean", what, node.text),
        remedy);
  }
  if (has_leading_zero(node.text)) {
    const std::string alternative = or_quoted ? fmt::format(" or \"{}\"", node.text) : "";
    config_error(node.origin,
                 fmt::format("{} is {}, which some YAML readers take for octal", what, node.text),
                 "write " + without_leading_zeros(node.text) + alternative);
  }
}

/// A scalar that is a number or a boolean: never one in quotes.
void check_plain(const YamlNode& node, const std::string& what, const std::string& wanted,
                 const std::string& remedy) {
  if (!node.is_scalar()) wrong_type(node, what, wanted, remedy);
  if (node.quoted) wrong_type(node, what, wanted, "take away the quotes");
  refuse_ambiguous(node, what, remedy, false);
}

std::string quotes_remedy(const YamlNode& node) {
  return fmt::format("write \"{}\" in quotes for the word", node.text);
}

}  // namespace

std::string quoted(const std::string& key) { return "'" + key + "'"; }

std::string read_scalar(const YamlNode& node, const std::string& what,
                        const std::vector<std::string>& choices) {
  if (!node.is_scalar()) wrong_type(node, what, "one value", "write the value on the same line");
  const bool chosen = std::find(choices.begin(), choices.end(), node.text) != choices.end();
  const std::string remedy = choices.empty()
                                 ? "write a number"
                                 : fmt::format("write one of: {}", fmt::join(choices, ", "));
  if (!chosen) refuse_ambiguous(node, what, remedy, false);
  return node.text;
}

std::string read_verbatim(const YamlNode& node, const std::string& what) {
  if (!node.is_scalar()) wrong_type(node, what, "one value", "write the value on the same line");
  return node.text;
}

std::string read_text(const YamlNode& node, const std::string& what) {
  if (!node.is_scalar()) wrong_type(node, what, "text", "write it on one line, or leave it out");
  refuse_ambiguous(node, what, quotes_remedy(node), true);
  if (!node.quoted && (node.text == "true" || node.text == "false")) {
    wrong_type(node, what, "text", quotes_remedy(node));
  }
  return node.text;
}

std::string read_name(const YamlNode& node, const std::string& what) {
  const std::string name = read_text(node, what);
  if (name.empty() || name.front() == '.' ||
      name.find_first_not_of(kNameCharacters) != std::string::npos) {
    config_error(node.origin, fmt::format("{} cannot be '{}'", what, name),
                 "use letters, digits, '.', '_', '+' and '-', beginning with another than '.'");
  }
  return name;
}

bool read_boolean(const YamlNode& node, const std::string& what) {
  const std::string remedy = "write true or false";
  check_plain(node, what, "true or false", remedy);
  if (node.text != "true" && node.text != "false") wrong_type(node, what, "true or false", remedy);
  return node.text == "true";
}

double read_number(const YamlNode& node, const std::string& what) {
  const std::string remedy = "write it with '.' as the decimal sign, such as 1.15";
  check_plain(node, what, "a number", remedy);
  const std::optional<double> number = parse_number(node.text);
  if (!number) wrong_type(node, what, "a number", remedy);
  return *number;
}

int read_integer(const YamlNode& node, const std::string& what, int minimum) {
  const std::string remedy = fmt::format("write a number of at least {}", minimum);
  check_plain(node, what, "a whole number", remedy);
  const std::optional<double> number = parse_number(node.text);
  if (!number || std::floor(*number) != *number || *number < minimum ||
      *number > std::numeric_limits<int>::max()) {
    wrong_type(node, what, "a whole number", remedy);
  }
  return static_cast<int>(*number);
}

std::uint64_t read_seed(const YamlNode& node, const std::string& what) {
  const std::string wanted = "a whole number below 2^64";
  check_plain(node, what, wanted, "write it in decimal digits");
  std::uint64_t seed = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [stop, failure] = std::from_chars(node.text.data(), end, seed);
  if (failure != std::errc() || stop != end) {
    wrong_type(node, what, wanted, "write it in decimal digits");
  }
  return seed;
}

std::size_t read_choice(const YamlNode& node, const std::string& what,
                        const std::vector<std::string>& choices) {
  const std::string text = read_scalar(node, what, choices);
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found == choices.end()) {
    config_error(node.origin, fmt::format("{} cannot be '{}'", what, text), suggest(text, choices));
  }
  return static_cast<std::size_t>(found - choices.begin());
}

Span read_span(const YamlNode& node, const std::string& what) {
  const std::string remedy = "write its unit, such as 30s, 2min or 3 laps";
  const std::string wanted = "a time or a number of laps";
  if (!node.is_scalar()) wrong_type(node, what, wanted, remedy);
  if (node.text == "steady") return {0, Span::Unit::kSteady};
  if (const auto seconds = parse_seconds(node.text)) return {*seconds, Span::Unit::kSeconds};
  const std::size_t end = std::min(node.text.find_first_of(" l"), node.text.size());
  const std::string unit = node.text.substr(end);
  const auto laps = parse_number(node.text.substr(0, end));
  if (laps && *laps >= 0 && (unit == " laps" || unit == " lap" || unit == "laps")) {
    return {*laps, Span::Unit::kLaps};
  }
  wrong_type(node, what, wanted, remedy);
}

double read_seconds(const YamlNode& node, const std::string& what) {
  const Span span = read_span(node, what);
  if (span.unit != Span::Unit::kSeconds || span.amount <= 0) {
    wrong_type(node, what, "a time above zero", "write its unit, such as 60s");
  }
  return span.amount;
}

std::vector<const YamlNode*> read_list(const YamlNode& node, const std::string& what) {
  if (!node.is_list()) wrong_type(node, what, "a list", "write it as [a, b]");
  if (node.items.empty()) {
    config_error(node.origin, what + " is an empty list",
                 "name at least one, or leave the key out");
  }
  std::vector<const YamlNode*> items;
  for (const YamlNode& item : node.items) items.push_back(&item);
  return items;
}

std::vector<const YamlNode*> read_list_or_one(const YamlNode& node, const std::string& what) {
  if (node.is_scalar() || node.is_map()) return {&node};
  return read_list(node, what);
}

void check_map(const YamlNode& node, const std::string& what,
               const std::vector<std::string>& known) {
  if (!node.is_map()) wrong_type(node, what, "a map", "write it as 'key: value' lines");
  for (const YamlEntry& entry : node.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    config_error(entry.origin, fmt::format("unknown key '{}' in {}", entry.key, what),
                 suggest(entry.key, known));
  }
}

const YamlNode& need(const YamlNode& map, const std::string& key, const std::string& what) {
  if (const YamlNode* value = map.find(key)) return *value;
  config_error(map.origin, fmt::format("{} has no '{}'", what, key),
               fmt::format("add '{}: …'", key));
}

void with_place(const Origin& where, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    if (!error.place().empty()) throw;
    throw Error(error.kind(), error.problem(), error.remedy(), where.text());
  }
}

}  // namespace numabench
