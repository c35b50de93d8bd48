#include "reports/statistics/simulation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "reports/statistics/noise_floor.h"

namespace numabench {
namespace {

using Order = SimulatedExperiment::Order;

/// log(result) of each run of one cell, by arm; the baseline and its copy come first.
using CellRuns = std::vector<std::vector<double>>;

/// The place of a run among those of its cell.
int place_of(const SimulatedExperiment& experiment, int arm, int run) {
  const int arms = experiment.arms + 2;
  if (experiment.order == Order::kConfig) return arm * experiment.runs + run;
  return run * arms + (arm + run) % arms;
}

CellRuns draw_cell(const SimulatedExperiment& experiment, int cell, std::mt19937_64& random) {
  std::normal_distribution<double> noise(0,
                                         log_of_percent(experiment.noise_percent) * std::sqrt(0.5));
  const int arms = experiment.arms + 2;
  const int runs_of_cell = arms * experiment.runs;
  CellRuns runs(static_cast<std::size_t>(arms));
  for (int arm = 0; arm < arms; ++arm) {
    for (int run = 0; run < experiment.runs; ++run) {
      const double passed =
          static_cast<double>(cell * runs_of_cell + place_of(experiment, arm, run)) /
          (experiment.cells * runs_of_cell);
      const double effect = arm < 2 ? 0 : log_of_percent(experiment.effect_percent);
      runs[static_cast<std::size_t>(arm)].push_back(
          effect + passed * log_of_percent(experiment.drift_percent) + noise(random));
    }
  }
  return runs;
}

std::vector<double> log_ratios(const std::vector<double>& arm,
                               const std::vector<double>& baseline) {
  std::vector<double> ratios;
  std::ranges::transform(arm, baseline, std::back_inserter(ratios), std::minus<>());
  return ratios;
}

}  // namespace

std::vector<Verdict> simulate(const SimulatedExperiment& experiment, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Evidence> family;
  for (int cell = 0; cell < experiment.cells; ++cell) {
    const CellRuns runs = draw_cell(experiment, cell, random);
    const Noise noise = *measure_noise(log_ratios(runs[1], runs[0]));
    for (std::size_t arm = 2; arm < runs.size(); ++arm) {
      family.push_back({.difference = *paired_difference(log_ratios(runs[arm], runs[0])),
                        .floor = noise_floor(noise, experiment.runs)});
    }
  }
  return judge(family, Better::kHigher);
}

double share_with_difference(const SimulatedExperiment& experiment, int experiments) {
  int with_difference = 0;
  for (int i = 0; i < experiments; ++i) {
    const std::vector<Verdict> verdicts = simulate(experiment, static_cast<std::uint64_t>(i));
    if (std::ranges::any_of(verdicts, &Verdict::is_difference)) ++with_difference;
  }
  return static_cast<double>(with_difference) / experiments;
}

}  // namespace numabench
