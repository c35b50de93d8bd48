#include "runner/selector.h"

#include <fmt/format.h>

#include <regex>
#include <string_view>
#include <vector>

#include "hosts/error.h"
#include "hosts/spelling.h"
#include "hosts/units.h"

namespace numabench {
namespace {

enum class Relation { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

struct Operator {
  std::string_view text;
  Relation relation;
};

// Two-character operators first: '<=' must not be read as '<'.
constexpr Operator kOperators[] = {
    {"!=", Relation::kNotEqual}, {"<=", Relation::kLessOrEqual}, {">=", Relation::kGreaterOrEqual},
    {"=", Relation::kEqual},     {"<", Relation::kLess},         {">", Relation::kGreater}};

template <typename T>
bool holds(Relation relation, const T& left, const T& right) {
  switch (relation) {
    case Relation::kEqual:
      return left == right;
    case Relation::kNotEqual:
      return left != right;
    case Relation::kLess:
      return left < right;
    case Relation::kLessOrEqual:
      return left <= right;
    case Relation::kGreater:
      return left > right;
    case Relation::kGreaterOrEqual:
      break;
  }
  return left >= right;
}

struct Condition {
  std::string factor;
  Relation relation = Relation::kEqual;
  std::string value;
};

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Condition parse_condition(std::string_view text) {
  const auto at = text.find_first_of("!<>=");
  if (at != std::string_view::npos) {
    for (const Operator& candidate : kOperators) {
      if (text.substr(at).starts_with(candidate.text)) {
        return {std::string(trim(text.substr(0, at))), candidate.relation,
                std::string(trim(text.substr(at + candidate.text.size())))};
      }
    }
  }
  throw Error(ErrorKind::kUsage, fmt::format("--where: '{}' is not a condition", text),
              "write FACTOR=VALUE, or one of != < <= > >=, for instance 'arm=numa-only,ratio>=2'");
}

struct TextFactor {
  std::string_view name;
  std::string CellRecord::*member;
};

constexpr TextFactor kTextFactors[] = {{"arm", &CellRecord::arm},
                                       {"workload", &CellRecord::workload},
                                       {"placement", &CellRecord::placement},
                                       {"regime", &CellRecord::regime}};

CellPredicate text_predicate(const Condition& condition, std::string CellRecord::*member) {
  if (condition.relation != Relation::kEqual && condition.relation != Relation::kNotEqual) {
    throw Error(ErrorKind::kUsage, fmt::format("--where: '{}' has no order", condition.factor),
                "compare it with = or !=");
  }
  return [condition, member](const CellRecord& cell) {
    return holds(condition.relation, cell.*member, condition.value);
  };
}

double parse_operand(const Condition& condition) {
  std::optional<double> number = parse_number(condition.value);
  if (!number && condition.factor == "pool") {
    if (const auto bytes = parse_bytes(condition.value)) number = static_cast<double>(*bytes);
  }
  if (!number) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--where: '{}' is not a value for {}", condition.value, condition.factor),
        condition.factor == "pool" ? "write a size such as 512MiB" : "write a number");
  }
  return *number;
}

template <typename Getter>
CellPredicate number_predicate(const Condition& condition, Getter getter) {
  return [relation = condition.relation, operand = parse_operand(condition),
          getter](const CellRecord& cell) {
    return holds(relation, static_cast<double>(getter(cell)), operand);
  };
}

CellPredicate make_condition(const Condition& condition) {
  for (const TextFactor& factor : kTextFactors) {
    if (condition.factor == factor.name) return text_predicate(condition, factor.member);
  }
  if (condition.factor == "hash") {
    return [condition](const CellRecord& cell) {
      return holds(condition.relation, cell.hash.substr(0, condition.value.size()),
                   condition.value);
    };
  }
  if (condition.factor == "pool") {
    return number_predicate(condition, [](const CellRecord& cell) { return cell.pool_bytes; });
  }
  if (condition.factor == "ratio") {
    return number_predicate(condition, [](const CellRecord& cell) { return cell.ratio; });
  }
  if (condition.factor == "clients") {
    return number_predicate(condition, [](const CellRecord& cell) { return cell.clients; });
  }
  throw Error(ErrorKind::kUsage, fmt::format("--where: unknown factor '{}'", condition.factor),
              suggest(condition.factor, {"arm", "workload", "placement", "regime", "pool", "ratio",
                                         "clients", "hash"}));
}

std::regex compile(const std::string& pattern) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error& error) {
    throw Error(ErrorKind::kUsage, fmt::format("-n: '{}' is not a regular expression", pattern),
                "use ECMAScript syntax and quote special characters");
  }
}

std::vector<CellPredicate> parse_where(std::string_view where) {
  std::vector<CellPredicate> conditions;
  while (!where.empty()) {
    const auto comma = where.find(',');
    conditions.push_back(make_condition(parse_condition(trim(where.substr(0, comma)))));
    if (comma == std::string_view::npos) break;
    where.remove_prefix(comma + 1);
  }
  return conditions;
}

}  // namespace

std::string cell_label(const CellRecord& cell) {
  return fmt::format("{} {} ratio={} pool={} clients={} {}", cell.arm, cell.workload,
                     format_exact(cell.ratio), format_bytes(static_cast<double>(cell.pool_bytes)),
                     cell.clients, cell.placement);
}

CellPredicate make_selector(const std::string& name_regex, const std::string& where) {
  const std::regex name = compile(name_regex);
  const std::vector<CellPredicate> conditions = parse_where(where);
  return [name, conditions](const CellRecord& cell) {
    for (const CellPredicate& condition : conditions) {
      if (!condition(cell)) return false;
    }
    return std::regex_search(cell_label(cell), name);
  };
}

}  // namespace numabench
