#include "reports/statistics/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/statistics/bootstrap.h"
#include "reports/statistics/permutation.h"

namespace numabench {

double percent_of_log(double log_ratio) { return 100 * std::expm1(log_ratio); }

std::string short_percent(double percent) {
  return percent < 10 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent);
}

double log_of_percent(double percent) { return std::log1p(percent / 100); }

std::optional<Difference> paired_difference(std::span<const double> log_ratios) {
  if (log_ratios.empty()) return std::nullopt;
  return Difference{.pairs = static_cast<int>(log_ratios.size()),
                    .paired = true,
                    .log_ratio = mean_of(log_ratios),
                    .interval = mean_interval(log_ratios),
                    .p = sign_flip_p(log_ratios),
                    .noise = deviation_of(log_ratios)};
}

std::optional<Difference> unpaired_difference(std::span<const double> before,
                                              std::span<const double> after) {
  if (before.empty() || after.empty()) return std::nullopt;
  return Difference{.pairs = static_cast<int>(std::min(before.size(), after.size())),
                    .paired = false,
                    .log_ratio = mean_of(after) - mean_of(before),
                    .interval = welch(before, after).interval,
                    .p = relabel_p(before, after),
                    .noise = std::hypot(deviation_of(before), deviation_of(after))};
}

}  // namespace numabench
