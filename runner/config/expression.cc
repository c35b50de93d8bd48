#include "runner/config/expression.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hosts/error.h"
#include "hosts/spelling.h"
#include "hosts/units.h"

namespace numabench {
namespace {

constexpr std::string_view kBlanks = " \t\n";
constexpr std::string_view kDigits = "0123456789.";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
/// Parentheses deeper than any sensible value; keeps hostile text off the stack.
constexpr int kMostParentheses = 50;

const std::vector<std::string>& names() {
  static const std::vector<std::string> all{"cpus", "cores", "nodes", "packages", "memory"};
  return all;
}

Quantity count_of(std::size_t amount) { return {static_cast<double>(amount), false}; }

/// Cores or packages that hold an allowed CPU.
std::size_t count_allowed(const Topology& topology, int Cpu::*group) {
  std::set<int> groups;
  for (const Cpu& cpu : topology.cpus()) {
    if (cpu.allowed) groups.insert(cpu.*group);
  }
  return groups.size();
}

std::optional<Quantity> look_up(std::string_view name, const Topology& topology) {
  if (name == "cpus") return count_of(topology.allowed_cpus().size());
  if (name == "cores") return count_of(count_allowed(topology, &Cpu::core));
  if (name == "packages") return count_of(count_allowed(topology, &Cpu::package));
  if (name == "nodes") return count_of(topology.nodes_with_cpus().size());
  if (name == "memory") return Quantity{static_cast<double>(topology.memory_bytes()), true};
  return std::nullopt;
}

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const Topology& topology)
      : text_(text), topology_(topology) {}

  Quantity parse() {
    const Quantity result = sum();
    if (!at_end()) fail(fmt::format("'{}' is not expected here", text_.substr(at_)));
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::kUsage, fmt::format("expression '{}': {}", text_, what),
                "write a number, a size such as 4GiB, or an expression such as 2 * cpus");
  }

  Quantity sum() {
    Quantity left = product();
    while (true) {
      const bool plus = accept('+');
      if (!plus && !accept('-')) return left;
      const Quantity right = product();
      if (left.bytes != right.bytes) fail("a size and a count are added");
      left.amount += plus ? right.amount : -right.amount;
    }
  }

  Quantity product() {
    Quantity left = operand();
    while (true) {
      if (accept('*')) {
        const Quantity right = operand();
        if (left.bytes && right.bytes) fail("two sizes are multiplied");
        left = {left.amount * right.amount, left.bytes || right.bytes};
      } else if (accept('/')) {
        left = divide(left, operand());
      } else {
        return left;
      }
    }
  }

  Quantity divide(const Quantity& left, const Quantity& right) const {
    if (right.amount == 0) fail("something is divided by zero");
    if (right.bytes && !left.bytes) fail("a count is divided by a size");
    return {left.amount / right.amount, left.bytes && !right.bytes};
  }

  Quantity operand() {
    if (accept('(')) {
      if (++parentheses_ > kMostParentheses) fail("parentheses are nested too deep");
      const Quantity inner = sum();
      if (!accept(')')) fail("a ')' is missing");
      --parentheses_;
      return inner;
    }
    if (at_end()) fail("a value is missing at the end");
    if (kDigits.find(text_[at_]) != std::string_view::npos) return number();
    return name();
  }

  Quantity number() {
    const std::string digits(take(kDigits));
    const std::optional<double> amount = parse_number(digits);
    if (!amount) fail(fmt::format("'{}' is not a number", digits));
    if (accept('%')) return percentage(*amount);
    const std::size_t after_digits = at_;
    skip_blanks();
    const std::string unit(take(kLetters));
    if (unit.empty()) {
      at_ = after_digits;
      return {*amount, false};
    }
    const std::optional<std::uint64_t> bytes = parse_bytes(digits + unit);
    if (bytes) return {static_cast<double>(*bytes), true};
    if (look_up(unit, topology_))
      fail(fmt::format("a sign is missing between '{}' and '{}'", digits, unit));
    fail(fmt::format("'{}' is not a unit of size", unit));
  }

  Quantity percentage(double percent) {
    skip_blanks();
    const std::size_t before_of = at_;
    if (take(kLetters) != "of") at_ = before_of;
    const Quantity whole = operand();
    return {whole.amount * percent / 100, whole.bytes};
  }

  Quantity name() {
    skip_blanks();
    const std::string_view word = take(kLetters);
    if (word.empty()) fail(fmt::format("'{}' is not expected here", text_.substr(at_)));
    if (const std::optional<Quantity> value = look_up(word, topology_)) return *value;
    throw Error(ErrorKind::kUsage, fmt::format("unknown name '{}' in '{}'", word, text_),
                suggest(word, names()));
  }

  void skip_blanks() { take(kBlanks); }

  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  bool accept(char sign) {
    if (at_end() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }

  std::string_view take(std::string_view set) {
    const std::size_t end = std::min(text_.find_first_not_of(set, at_), text_.size());
    const std::string_view taken = text_.substr(at_, end - at_);
    at_ = end;
    return taken;
  }

  std::string_view text_;
  const Topology& topology_;
  std::size_t at_ = 0;
  int parentheses_ = 0;
};

}  // namespace

Quantity evaluate_expression(std::string_view text, const Topology& topology) {
  return ExpressionParser(text, topology).parse();
}

bool is_literal(std::string_view text) { return parse_number(text) || parse_bytes(text); }

}  // namespace numabench
