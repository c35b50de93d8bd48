#include "runner/config/experiment.h"

#include <fmt/format.h>

#include "hosts/error.h"
#include "hosts/units.h"

namespace numabench {
namespace {

template <typename T>
const T& find_named(const std::vector<T>& items, std::string T::*member, const std::string& name,
                    const char* what) {
  for (const T& item : items) {
    if (item.*member == name) return item;
  }
  throw Error(ErrorKind::kInternal, fmt::format("the experiment has no {} '{}'", what, name));
}

double longest_seconds(const Span& span, double limit_seconds) {
  return span.unit == Span::Unit::kSeconds ? span.amount : limit_seconds;
}

}  // namespace

std::string Origin::text() const {
  if (file.empty()) return "default";
  return line == 0 ? file : fmt::format("{}:{}:{}", file, line, column);
}

std::string Span::text() const {
  switch (unit) {
    case Unit::kSeconds:
      return format_exact(amount) + "s";
    case Unit::kLaps:
      return format_exact(amount) + " laps";
    case Unit::kSteady:
      break;
  }
  return "steady";
}

std::string to_string(Regime regime) {
  switch (regime) {
    case Regime::kResident:
      return "resident";
    case Regime::kPageCache:
      return "page-cache";
    case Regime::kRealIo:
      return "real-io";
    case Regime::kNone:
      break;
  }
  return "none";
}

double Experiment::longest_warmup_seconds() const {
  return longest_seconds(warmup, warmup_limit_seconds);
}

double Experiment::longest_duration_seconds() const {
  return longest_seconds(duration, duration_limit_seconds);
}

bool Experiment::is_publishable() const {
  constexpr double kShortestPublishableSeconds = 60;
  return !smoke && longest_duration_seconds() >= kShortestPublishableSeconds;
}

std::string to_string(Spread spread) {
  switch (spread) {
    case Spread::kCores:
      return "cores";
    case Spread::kNodes:
      return "nodes";
    case Spread::kPackages:
      return "packages";
    case Spread::kSmtLast:
      return "smt-last";
    case Spread::kNone:
      break;
  }
  return "none";
}

const Arm& Experiment::arm(const std::string& wanted) const {
  return find_named(arms, &Arm::name, wanted, "arm");
}

const WorkloadConfig& Experiment::workload(const std::string& label) const {
  return find_named(workloads, &WorkloadConfig::label, label, "workload");
}

const PlacementConfig& Experiment::placement(const std::string& wanted) const {
  return find_named(placements, &PlacementConfig::name, wanted, "placement");
}

}  // namespace numabench
