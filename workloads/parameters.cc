#include "workloads/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "hosts/error.h"
#include "hosts/spelling.h"
#include "hosts/units.h"

namespace numabench {
namespace {

constexpr double kMaxInteger = std::numeric_limits<int>::max();

bool in_range(const ParameterSpec& spec, double value) {
  if (spec.type == ParameterSpec::Type::kInteger &&
      (value != std::floor(value) || value > kMaxInteger)) {
    return false;
  }
  return spec.above_minimum ? value > spec.minimum : value >= spec.minimum;
}

std::string wanted_number(const ParameterSpec& spec) {
  const bool integer = spec.type == ParameterSpec::Type::kInteger;
  return fmt::format("give {} {} {}{}", integer ? "an integer" : "a number",
                     spec.above_minimum ? "greater than" : "of at least", spec.minimum,
                     integer ? fmt::format(" and at most {}", kMaxInteger) : "");
}

[[noreturn]] void refuse(std::string_view workload, const ParameterSpec& spec,
                         const std::string& text, const std::string& remedy) {
  throw Error(ErrorKind::kUsage,
              fmt::format("'{}' of {} cannot be '{}'", spec.name, workload, text), remedy);
}

void check_choice(std::string_view workload, const ParameterSpec& spec, const std::string& text,
                  const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    refuse(workload, spec, text, suggest(text, choices));
  }
}

void check_value(std::string_view workload, const ParameterSpec& spec, const std::string& text) {
  switch (spec.type) {
    case ParameterSpec::Type::kBoolean:
      check_choice(workload, spec, text, {"false", "true"});
      return;
    case ParameterSpec::Type::kChoice:
      check_choice(workload, spec, text, spec.choices);
      return;
    case ParameterSpec::Type::kText:
      return;
    case ParameterSpec::Type::kNumber:
    case ParameterSpec::Type::kInteger:
      const std::optional<double> value = parse_number(text);
      if (!value || !in_range(spec, *value)) refuse(workload, spec, text, wanted_number(spec));
  }
}

void check_names(std::string_view workload, const std::vector<ParameterSpec>& specs,
                 const ParameterValues& values) {
  std::vector<std::string> known;
  for (const ParameterSpec& spec : specs) known.push_back(spec.name);
  for (const auto& [name, text] : values) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(ErrorKind::kUsage, fmt::format("{} has no parameter '{}'", workload, name),
                  suggest(name, known));
    }
  }
}

}  // namespace

Parameters::Parameters(std::string_view workload, const std::vector<ParameterSpec>& specs,
                       const ParameterValues& values) {
  check_names(workload, specs, values);
  for (const ParameterSpec& spec : specs) {
    const auto given = values.find(spec.name);
    const std::string& text = given == values.end() ? spec.default_value : given->second;
    check_value(workload, spec, text);
    texts_[spec.name] = text;
  }
}

double Parameters::number(const std::string& name) const {
  return parse_number(texts_.at(name)).value();
}

std::uint64_t Parameters::integer(const std::string& name) const {
  return static_cast<std::uint64_t>(number(name));
}

bool Parameters::boolean(const std::string& name) const { return texts_.at(name) == "true"; }

const std::string& Parameters::choice(const std::string& name) const { return texts_.at(name); }

const std::string& Parameters::text(const std::string& name) const { return texts_.at(name); }

}  // namespace numabench
