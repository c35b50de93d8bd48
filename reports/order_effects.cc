#include "reports/order_effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>

#include "hosts/units.h"
#include "reports/trend.h"

namespace numabench {
namespace {

constexpr std::size_t kFewestRuns = 12;
constexpr double kSignificant = 0.01;  // three tests on every experiment: not at 0.05
/// A factor that hardly moved was not tested.
constexpr double kVariesShare = 0.1;
constexpr const char* kSpeeds[] = {"tps", "scans_per_s", "scan_bytes_per_s"};

std::optional<double> speed_of(const RunRecord& run, const char* metric) {
  const MetricValue* found = find_value(run.values, metric);
  return found == nullptr ? std::nullopt : found->value;
}

/// A run's speed ÷ the median of its cell, with what could explain it.
struct RelativeRun {
  double result;
  int block_position;
  double server_age_s;  ///< NaN when not measured
  int run_order;
};

void add_cell(const std::vector<RunRecord>& runs, std::vector<RelativeRun>& results) {
  for (const char* metric : kSpeeds) {
    std::vector<double> speeds;
    std::vector<const RunRecord*> counted;
    for (const RunRecord& run : runs) {
      const std::optional<double> speed = speed_of(run, metric);
      if (run.status != RunStatus::kOk || !speed) continue;
      speeds.push_back(*speed);
      counted.push_back(&run);
    }
    const double median = median_of(speeds);
    if (speeds.size() < 2 || !(median > 0)) continue;
    for (std::size_t i = 0; i < counted.size(); ++i) {
      results.push_back({speeds[i] / median, counted[i]->block_position,
                         speed_of(*counted[i], "server_age_s").value_or(median_of({})),
                         counted[i]->run_order});
    }
    return;
  }
}

std::string explained(const char* factor, double p) {
  return p < kSignificant ? fmt::format(
                                "{} explains some of it (p={:.2g}): distrust small "
                                "differences",
                                factor, p)
                          : fmt::format("{} explains nothing (p={:.2f})", factor, p);
}

std::string position_note(const std::vector<RelativeRun>& runs) {
  std::map<int, std::vector<double>> by_position;
  for (const RelativeRun& run : runs) by_position[run.block_position].push_back(run.result);
  std::vector<std::vector<double>> groups;
  for (auto& [position, results] : by_position) groups.push_back(std::move(results));
  if (groups.size() < 2) return "the position in the block did not vary";
  return explained("the position in the block", kruskal_wallis_p(groups));
}

std::string age_note(const std::vector<RelativeRun>& runs) {
  std::vector<std::pair<double, double>> by_age;
  std::vector<double> ages;
  for (const RelativeRun& run : runs) {
    if (!(run.server_age_s >= 0)) continue;
    by_age.emplace_back(run.server_age_s, run.result);
    ages.push_back(run.server_age_s);
  }
  if (ages.empty()) return "the time since the server's start was not measured";
  const auto [youngest, oldest] = std::ranges::minmax(ages);
  if (oldest - youngest <= kVariesShare * oldest) {
    return "the time since the server's start hardly varied";
  }
  return explained("the time since the server's start", factor_trend_p(std::move(by_age)));
}

std::string time_note(const std::vector<RelativeRun>& runs) {
  std::vector<std::pair<double, double>> by_order;
  for (const RelativeRun& run : runs) {
    by_order.emplace_back(static_cast<double>(run.run_order), run.result);
  }
  return explained("the time of day", factor_trend_p(std::move(by_order)));
}

/// Beside the run that it repeats: the first of its cell.
std::string control_note(const std::map<std::int64_t, std::vector<RunRecord>>& by_cell,
                         const RunRecord& control) {
  const auto cell = by_cell.find(control.cell_id);
  if (control.status != RunStatus::kOk || cell == by_cell.end()) return "";
  const auto first = std::ranges::find_if(
      cell->second, [](const RunRecord& run) { return run.status == RunStatus::kOk; });
  if (first == cell->second.end()) return "";
  for (const char* metric : kSpeeds) {
    const std::optional<double> before = speed_of(*first, metric);
    const std::optional<double> after = speed_of(control, metric);
    if (!before || !after || *before <= 0) continue;
    return fmt::format("drift: the first cell repeated last has {} {}, {:+.1f} % of its first {}",
                       format_count(*after), find_metric(metric)->title,
                       100 * (*after / *before - 1), format_count(*before));
  }
  return "";
}

}  // namespace

double kruskal_wallis_p(const std::vector<std::vector<double>>& groups) {
  std::vector<double> all;
  for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
  std::ranges::sort(all);
  const auto n = static_cast<double>(all.size());
  const auto rank_of = [&](double value) {  // the mean rank of those that are equal
    const auto [first, last] = std::equal_range(all.begin(), all.end(), value);
    const auto before = static_cast<double>(first - all.begin());
    return before + (static_cast<double>(last - first) + 1) / 2;
  };
  double sum = 0;
  int used = 0;
  for (const auto& group : groups) {
    if (group.empty()) continue;
    double ranks = 0;
    for (const double value : group) ranks += rank_of(value);
    sum += ranks * ranks / static_cast<double>(group.size());
    ++used;
  }
  double ties = 0;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::upper_bound(first, all.end(), *first);
    const auto count = static_cast<double>(last - first);
    ties += count * count * count - count;
    first = last;
  }
  const double correction = 1 - ties / (n * n * n - n);
  if (used < 2 || !(correction > 0)) return 1;
  const double h = (12 / (n * (n + 1)) * sum - 3 * (n + 1)) / correction;
  const boost::math::chi_squared distribution(used - 1);
  return boost::math::cdf(boost::math::complement(distribution, std::max(0.0, h)));
}

double factor_trend_p(std::vector<std::pair<double, double>> factor_and_results) {
  std::ranges::stable_sort(factor_and_results, {}, &std::pair<double, double>::first);
  std::vector<double> results;
  for (const auto& [factor, result] : factor_and_results) results.push_back(result);
  return find_trend(results).p;
}

std::vector<std::string> order_notes(const std::map<std::int64_t, std::vector<RunRecord>>& by_cell,
                                     const std::vector<RunRecord>& drift_controls) {
  std::vector<std::string> notes;
  for (const RunRecord& control : drift_controls) {
    std::string note = control_note(by_cell, control);
    if (!note.empty()) notes.push_back(std::move(note));
  }
  std::vector<RelativeRun> runs;
  for (const auto& [cell, of_cell] : by_cell) add_cell(of_cell, runs);
  if (runs.size() < kFewestRuns) return notes;
  notes.push_back(fmt::format("order of the runs: {}; {}; {}", position_note(runs), time_note(runs),
                              age_note(runs)));
  return notes;
}

}  // namespace numabench
