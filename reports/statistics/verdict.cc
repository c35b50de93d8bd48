#include "reports/statistics/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/statistics/permutation.h"

namespace numabench {
namespace {

VerdictKind direction(double log_ratio, Better better) {
  const bool is_up = log_ratio > 0;
  if (better == Better::kNone) return is_up ? VerdictKind::kHigher : VerdictKind::kLower;
  return is_up == (better == Better::kHigher) ? VerdictKind::kBetter : VerdictKind::kWorse;
}

/// How far from 0 the interval reaches, in percent of the baseline.
double reach_percent(const Interval& interval) {
  return std::max(std::abs(percent_of_log(interval.low)), std::abs(percent_of_log(interval.high)));
}

bool is_unstable(const Difference& difference) {
  return percent_of_log(difference.noise) > kUnstablePercent;
}

/// Of what is too wide for a verdict: why, and what would help.
std::string what_is_missing(const Difference& difference, double resolution_percent) {
  const int enough = pairs_for(difference.noise, resolution_percent);
  const std::string further =
      enough > difference.pairs
          ? fmt::format("; about {} runs for ±{:.2g} %", enough, resolution_percent)
          : "";
  const double half = (difference.interval->high - difference.interval->low) / 2;
  return fmt::format("±{} %{}", short_percent(percent_of_log(half)), further);
}

/// What to say where no difference was shown.
Verdict without_difference(const Evidence& evidence, double p, double resolution_percent) {
  const Difference& difference = evidence.difference;
  Verdict verdict;
  if (const int needed = fewest_pairs(kLevel); difference.paired && difference.pairs < needed) {
    verdict.reason = fmt::format("{} pair{}, {} needed", difference.pairs,
                                 difference.pairs == 1 ? "" : "s", needed);
    return verdict;
  }
  if (!difference.interval) {
    verdict.reason = "one run";
    return verdict;
  }
  if (is_unstable(difference)) {
    verdict.kind = VerdictKind::kUnstable;
    verdict.reason = fmt::format("a pair of runs differs by {} %",
                                 short_percent(percent_of_log(difference.noise)));
    return verdict;
  }
  const double floor_percent = percent_of_log(evidence.floor.value_or(0));
  const double bound = std::max(reach_percent(*difference.interval), floor_percent);
  if (bound <= resolution_percent) {
    verdict.kind = VerdictKind::kNoDifference;
    verdict.bound_percent = bound;
    return verdict;
  }
  if (floor_percent > std::abs(percent_of_log(difference.log_ratio))) {
    verdict.reason = fmt::format("within the noise floor of ±{} %", short_percent(floor_percent));
  } else if (difference.p <= kLevel && p > kLevel) {
    verdict.reason = fmt::format("p = {:.2g} among all comparisons and looks", p);
  } else {
    verdict.reason = what_is_missing(difference, resolution_percent);
  }
  return verdict;
}

Verdict judge_one(const Evidence& evidence, double p, Better better, double resolution_percent) {
  const double distance = std::abs(evidence.difference.log_ratio);
  Verdict verdict;
  if (p <= kLevel && distance > evidence.floor.value_or(0)) {
    verdict.kind = direction(evidence.difference.log_ratio, better);
  } else {
    verdict = without_difference(evidence, p, resolution_percent);
  }
  verdict.p = p;
  return verdict;
}

}  // namespace

std::string to_string(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kBetter:
      return "better";
    case VerdictKind::kWorse:
      return "worse";
    case VerdictKind::kHigher:
      return "higher";
    case VerdictKind::kLower:
      return "lower";
    case VerdictKind::kNoDifference:
      return "no difference";
    case VerdictKind::kInconclusive:
      return "inconclusive";
    case VerdictKind::kUnstable:
      return "unstable";
  }
  return "";
}

std::string Verdict::text() const {
  if (kind == VerdictKind::kNoDifference) {
    return fmt::format("no difference beyond ±{} %", short_percent(bound_percent));
  }
  return reason.empty() ? to_string(kind) : fmt::format("{}: {}", to_string(kind), reason);
}

int pairs_for(double noise, double resolution_percent) {
  constexpr double kNormalQuantile = 1.96;
  const double pairs = std::pow(kNormalQuantile * noise / log_of_percent(resolution_percent), 2);
  return std::max(fewest_pairs(kLevel), static_cast<int>(std::ceil(pairs)));
}

std::vector<Verdict> judge(const std::vector<Evidence>& family, Better better,
                           double resolution_percent) {
  std::vector<double> p_values;
  for (const Evidence& evidence : family) {
    p_values.push_back(std::min(1.0, std::ldexp(evidence.difference.p, evidence.earlier_looks)));
  }
  p_values = adjust_for_many(p_values);
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < family.size(); ++i) {
    verdicts.push_back(judge_one(family[i], p_values[i], better, resolution_percent));
  }
  return verdicts;
}

}  // namespace numabench
