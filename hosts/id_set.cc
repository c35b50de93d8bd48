#include "hosts/id_set.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

namespace numabench {
namespace {

// Far above any kernel's CPU or node limit; keeps "0-2000000000" from filling the memory.
constexpr int kMaxId = 1 << 20;

std::optional<int> parse_id(std::string_view text) {
  int id = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, id);
  if (failure != std::errc{} || stop != end || text.front() == '-' || id > kMaxId) {
    return std::nullopt;
  }
  return id;
}

// "3" or "0-3" into `ids`; false if it is neither.
bool insert_range(std::string_view text, IdSet& ids) {
  const auto dash = text.find('-');
  const auto first = parse_id(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_id(text.substr(dash + 1));
  if (!first || !last || *last < *first) return false;
  for (int id = *first; id <= *last; ++id) ids.insert(ids.end(), id);
  return true;
}

}  // namespace

std::optional<IdSet> parse_id_list(std::string_view text) {
  IdSet ids;
  if (text.empty()) return ids;
  for (;;) {
    const auto comma = text.find(',');
    if (!insert_range(text.substr(0, comma), ids)) return std::nullopt;
    if (comma == std::string_view::npos) return ids;
    text.remove_prefix(comma + 1);
  }
}

std::string format_id_list(const IdSet& ids) {
  std::string text;
  for (auto it = ids.begin(); it != ids.end();) {
    const int first = *it;
    int last = first;
    for (++it; it != ids.end() && *it == last + 1; ++it) last = *it;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

std::optional<IdExpression> parse_id_expression(std::string_view text) {
  IdExpression expression;
  if (text == "all") {
    expression.all = true;
    return expression;
  }
  const auto take = [&text](char sign) {
    const bool is_there = text.starts_with(sign);
    if (is_there) text.remove_prefix(1);
    return is_there;
  };
  expression.inverted = take('!');
  expression.relative = take('+');
  const std::optional<IdSet> ids = parse_id_list(text);
  if (!ids || ids->empty()) return std::nullopt;
  expression.ids = *ids;
  return expression;
}

}  // namespace numabench
