#include "reports/noise_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hosts/units.h"
#include "reports/statistics/power.h"
#include "reports/statistics/simulation.h"
#include "reports/verdicts.h"

namespace numabench {
namespace {

constexpr std::array kEffectsPercent = {0.5, 1.0, 2.0};

/// One line of the table: the noise of a cell, or of all of them.
struct NoiseLine {
  std::string workload;
  std::string ratio;
  std::string clients;
  Noise noise;
  int runs = 0;  ///< a cell
};

std::string runs_text(double effect_percent, double noise_percent) {
  const std::optional<int> runs = pairs_needed(effect_percent, noise_percent);
  return runs ? fmt::to_string(*runs) : fmt::format("> {}", kMostPairs);
}

std::string line_text(const NoiseLine& line) {
  const double percent = percent_of_log(line.noise.of_pair);
  const NoiseBounds bounds = noise_bounds(line.noise);
  const std::optional<double> detectable = detectable_percent(percent, line.runs);
  std::string text = fmt::format(
      "  {:<10}  {:>5}  {:>7}  {:>5}  {:>9}  {:>12}  {:>9}  {:>10}", line.workload, line.ratio,
      line.clients, line.noise.pairs, fmt::format("±{:.2f} %", percent),
      fmt::format("{:.2f}–{:.2f}", percent_of_log(bounds.low), percent_of_log(bounds.high)),
      fmt::format("{:+.2f} %", percent_of_log(line.noise.mean)),
      detectable ? fmt::format("{:.2f} %", *detectable) : "none");
  for (const double effect : kEffectsPercent) {
    text += fmt::format("  {:>6}", runs_text(effect, percent));
  }
  return text + "\n";
}

std::string heading_text(const Metric& metric, int runs) {
  std::string text = fmt::format(
      "\n{} of two copies of the same arm, in pairs\n"
      "  {:<10}  {:>5}  {:>7}  {:>5}  {:>9}  {:>12}  {:>9}  {:>10}",
      metric.title, "workload", "ratio", "clients", "pairs", "of a pair", "90 % sure", "in all",
      fmt::format("{} runs show", runs));
  for (const double effect : kEffectsPercent) {
    text += fmt::format("  {:>6}", format_exact(effect) + " %");
  }
  return text + " ← runs a cell to show it\n";
}

/// Empty when no cell has the metric.
std::string metric_text(const ExperimentData& data, const Metric& metric) {
  std::vector<NoiseLine> lines;
  int runs = 0;
  for (const CellRecord& cell : data.cells) {
    const CellRecord* original = data.find_cell(cell.group, data.copied_arm(cell.arm));
    if (original == nullptr) continue;
    const std::optional<Noise> noise =
        measure_noise(paired_log_ratios(data.runs_of(cell), data.runs_of(*original), metric.name));
    if (!noise || noise->of_pair == 0) continue;
    runs = std::max(runs, noise->pairs);
    lines.push_back({cell.workload, format_exact(cell.ratio), fmt::to_string(cell.clients), *noise,
                     noise->pairs});
  }
  if (lines.empty()) return "";
  std::string text = heading_text(metric, runs);
  for (const NoiseLine& line : lines) text += line_text(line);
  const NoiseFloors floors(data, metric.name);
  if (floors.pooled() && lines.size() > 1) {
    text += line_text({"all", "", "", *floors.pooled(), runs});
  }
  return text;
}

SimulatedExperiment simulated(double noise_percent, int runs) {
  SimulatedExperiment experiment;
  experiment.noise_percent = noise_percent;
  experiment.runs = runs;
  return experiment;
}

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// Where nothing differs, with and without a copy of the baseline to be held against.
std::string added_runs_text(double noise_percent, int experiments) {
  std::string text =
      "\nThe same where runs are added while the verdict is open (--add-runs):\n"
      " runs  goal                with A/A   without\n";
  for (const int runs : {3, 6, 10}) {
    for (const AddRuns& goal : {AddRuns{.until_percent = noise_percent / 2, .max = 15},
                                AddRuns{.until_percent = noise_percent / 4, .max = 30}}) {
      SimulatedExperiment experiment = simulated(noise_percent, runs);
      experiment.add_runs = goal;
      text +=
          fmt::format("{:>5}  {:<18}", runs,
                      fmt::format("until={}%,max={}", format_exact(goal.until_percent), goal.max));
      for (const bool aa : {true, false}) {
        experiment.aa = aa;
        text += fmt::format("{:>10}", share_text(share_with_difference(experiment, experiments)));
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace

std::string format_noise(const Store& store, std::int64_t experiment_id) {
  const ExperimentData data = read_experiment(store, experiment_id);
  std::string text;
  for (const Metric& metric : metric_catalogue()) {
    if (is_throughput(metric)) text += metric_text(data, metric);
  }
  if (text.empty()) return "no copy of the baseline arm has runs in pairs (aa: true adds one)\n";
  return text +
         fmt::format(
             "\nA difference is shown when a verdict finds it in {:.0f} of 100 experiments "
             "at a level of {:.0f} %,\nheld against a copy of the baseline with as many runs; "
             "one comparison, {} simulations of the rule.\n",
             100 * kPower, 100 * kLevel, kSimulations);
}

std::string format_simulation(double noise_percent, int experiments) {
  std::string text = fmt::format(
      "{} simulated experiments of each kind, one comparison each; a pair of runs differs by "
      "±{} %\n"
      "{:>5}  {:^39}  {:^41}\n"
      "{:>5}  {:>9}  {:>13}  {:>13}  {:>13}  {:>12}  {:>12}\n",
      experiments, format_exact(noise_percent), "", "called different where nothing differs",
      "found (predicted)", "runs", "no drift", "5 %, blocked", "5 %, config", "0.5 %", "1 %",
      "2 %");
  for (const int runs : {3, 6, 8, 10, 12, 15}) {
    SimulatedExperiment experiment = simulated(noise_percent, runs);
    text += fmt::format("{:>5}  {:>9}", runs,
                        share_text(share_with_difference(experiment, experiments)));
    experiment.drift_percent = 5;
    for (const auto order :
         {SimulatedExperiment::Order::kBlocked, SimulatedExperiment::Order::kConfig}) {
      experiment.order = order;
      text += fmt::format("  {:>13}", share_text(share_with_difference(experiment, experiments)));
    }
    experiment = simulated(noise_percent, runs);
    for (const double effect : kEffectsPercent) {
      experiment.effect_percent = effect;
      text +=
          fmt::format("  {:>12}", fmt::format("{:.0f} ({:.0f})",
                                              100 * share_with_difference(experiment, experiments),
                                              100 * power_of(effect, noise_percent, runs)));
    }
    text += '\n';
  }
  return text + added_runs_text(noise_percent, experiments);
}

}  // namespace numabench
