#include "hosts/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace numabench {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<Unit, 10> kByteUnits{{{"", 1},
                                           {"B", 1},
                                           {"kB", 1'000},
                                           {"MB", 1'000'000},
                                           {"GB", 1'000'000'000},
                                           {"TB", 1'000'000'000'000},
                                           {"KiB", 1ull << 10},
                                           {"MiB", 1ull << 20},
                                           {"GiB", 1ull << 30},
                                           {"TiB", 1ull << 40}}};

constexpr std::array<std::pair<std::string_view, double>, 4> kTimeUnits{
    {{"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}}};

// The ASCII tests of <cctype> without its locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::size_t count_digits(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  return count;
}

// -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?, which std::from_chars alone does not insist on.
bool is_decimal_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t whole = count_digits(text);
  if (whole == 0 || (whole > 1 && text.front() == '0')) return false;
  text.remove_prefix(whole);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t fraction = count_digits(text);
    if (fraction == 0) return false;
    text.remove_prefix(fraction);
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    const std::size_t exponent = count_digits(text);
    if (exponent == 0) return false;
    text.remove_prefix(exponent);
  }
  return text.empty();
}

// "1.5 GiB" -> {"1.5", "GiB"}; the second part is empty without a unit.
std::pair<std::string_view, std::string_view> split_unit(std::string_view text) {
  std::size_t unit = text.size();
  while (unit > 0 && is_letter(text[unit - 1])) --unit;
  std::size_t number = unit;
  if (unit < text.size() && number > 0 && text[number - 1] == ' ') --number;
  return {text.substr(0, number), text.substr(unit)};
}

// Whole numbers stay integers throughout: a double would lose the last bytes above 2^53.
std::optional<std::uint64_t> multiply(std::string_view number, std::uint64_t factor) {
  const auto value = parse_number(number);
  if (!value || *value < 0) return std::nullopt;
  if (count_digits(number) == number.size()) {
    std::uint64_t whole = 0, product = 0;
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), whole);
    if (parsed.ec != std::errc{} || __builtin_mul_overflow(whole, factor, &product)) {
      return std::nullopt;
    }
    return product;
  }
  const double product = std::round(*value * static_cast<double>(factor));
  if (product >= 0x1p64) return std::nullopt;
  return static_cast<std::uint64_t>(product);
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const auto [number, name] = split_unit(text);
  for (const Unit& unit : kByteUnits) {
    if (unit.name == name) return multiply(number, unit.factor);
  }
  return std::nullopt;
}

std::optional<double> parse_seconds(std::string_view text) {
  const auto [number, name] = split_unit(text);
  const auto value = parse_number(number);
  if (!value || *value < 0) return std::nullopt;
  for (const auto& [unit, seconds] : kTimeUnits) {
    if (unit == name) return *value * seconds;
  }
  return std::nullopt;
}

std::optional<double> parse_number(std::string_view text) {
  if (!is_decimal_number(text)) return std::nullopt;
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{}) return std::nullopt;
  return value;
}

std::string format_bytes(double bytes) {
  constexpr std::array<const char*, 5> kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  // 1023.5 of a unit would print as 1024, which is one of the next.
  while (std::abs(bytes) >= 1023.5 && unit + 1 < kNames.size()) {
    bytes /= 1024;
    ++unit;
  }
  const double size = std::abs(bytes);
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  std::string number = fmt::format("{:.{}f}", bytes, decimals);
  if (decimals > 0) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.ends_with('.')) number.pop_back();
  }
  return number + " " + kNames[unit];
}

std::string format_duration(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const long long whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string format_count(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (!std::isfinite(value)) return text;
  const std::size_t first_digit = text.starts_with('-') ? 1 : 0;
  std::size_t position = std::min(text.find('.'), text.size());
  while (position > first_digit + 3) {
    position -= 3;
    text.insert(position, 1, ',');
  }
  return text;
}

std::string format_exact(double value) { return fmt::format("{}", value); }

}  // namespace numabench
