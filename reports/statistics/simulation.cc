#include "reports/statistics/simulation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "reports/statistics/noise_floor.h"
#include "reports/statistics/permutation.h"

namespace numabench {
namespace {

using Order = SimulatedExperiment::Order;

/// log(result) of each run of one cell, by arm; the baseline and its copy come first.
using CellRuns = std::vector<std::vector<double>>;

/// All that a cell may ever have.
int most_runs(const SimulatedExperiment& experiment) {
  return experiment.add_runs ? std::max(experiment.runs, experiment.add_runs->max)
                             : experiment.runs;
}

/// The place of a run among those of its cell.
int place_of(const SimulatedExperiment& experiment, int arm, int run) {
  const int arms = experiment.arms + 2;
  if (experiment.order == Order::kConfig) return arm * most_runs(experiment) + run;
  return run * arms + (arm + run) % arms;
}

CellRuns draw_cell(const SimulatedExperiment& experiment, int cell, std::mt19937_64& random) {
  std::normal_distribution<double> noise(0,
                                         log_of_percent(experiment.noise_percent) * std::sqrt(0.5));
  const int arms = experiment.arms + 2;
  const int runs_of_cell = arms * most_runs(experiment);
  CellRuns runs(static_cast<std::size_t>(arms));
  for (int arm = 0; arm < arms; ++arm) {
    for (int run = 0; run < most_runs(experiment); ++run) {
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

/// What has been seen of one arm beside its baseline.
struct SeenArm {
  std::vector<double> ratios;
  int earlier_looks = 0;
};

/// One cell in the course of the experiment: what is drawn is known to the simulation alone until
/// it is seen.
class SeenCell {
 public:
  SeenCell(const SimulatedExperiment& experiment, CellRuns drawn)
      : drawn_(std::move(drawn)), aa_(experiment.aa), arms_(drawn_.size() - 2) {
    std::vector<std::size_t> all(arms_.size());
    std::iota(all.begin(), all.end(), 0u);
    see(experiment.runs, all);
  }

  std::vector<Evidence> evidence() const {
    const Noise noise = *measure_noise(copy_);
    std::vector<Evidence> evidence;
    for (const SeenArm& arm : arms_) {
      const auto pairs = static_cast<int>(arm.ratios.size());
      evidence.push_back({.difference = *paired_difference(arm.ratios),
                          .floor = aa_ ? std::optional(noise_floor(noise, pairs)) : std::nullopt,
                          .earlier_looks = arm.earlier_looks});
    }
    return evidence;
  }

  /// The runs that the verdicts ask for; false when they ask for none.
  bool add_runs(std::span<const Verdict> verdicts, const AddRuns& goal) {
    std::vector<std::size_t> open;
    double noise = 0;
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      if (!is_open(verdicts[arm])) continue;
      open.push_back(arm);
      noise = std::max(noise, paired_difference(arms_[arm].ratios)->noise);
    }
    const auto done = static_cast<int>(copy_.size());
    const int wanted = runs_of_next_look(done, noise, goal);
    if (open.empty() || wanted <= done) return false;
    for (const std::size_t arm : open) {
      const auto pairs = static_cast<int>(arms_[arm].ratios.size());
      if (pairs >= fewest_pairs(kLevel)) ++arms_[arm].earlier_looks;
    }
    see(wanted, open);
    return true;
  }

 private:
  /// Up to `runs` of the baseline, its copy and `arms`.
  void see(int runs, const std::vector<std::size_t>& arms) {
    for (std::size_t run = copy_.size(); run < static_cast<std::size_t>(runs); ++run) {
      copy_.push_back(drawn_[1][run] - drawn_[0][run]);
      for (const std::size_t arm : arms) {
        arms_[arm].ratios.push_back(drawn_[arm + 2][run] - drawn_[0][run]);
      }
    }
  }

  CellRuns drawn_;
  bool aa_;
  std::vector<double> copy_;  ///< log ratios of the baseline's copy
  std::vector<SeenArm> arms_;
};

/// One look at all cells: the family is what a table shows.
std::vector<Verdict> judge_cells(const std::vector<SeenCell>& cells, double resolution_percent) {
  std::vector<Evidence> family;
  for (const SeenCell& cell : cells) {
    std::ranges::move(cell.evidence(), std::back_inserter(family));
  }
  return judge(family, Better::kHigher, resolution_percent);
}

}  // namespace

std::vector<Verdict> simulate(const SimulatedExperiment& experiment, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<SeenCell> cells;
  for (int cell = 0; cell < experiment.cells; ++cell) {
    cells.emplace_back(experiment, draw_cell(experiment, cell, random));
  }
  if (!experiment.add_runs) return judge_cells(cells, kResolutionPercent);
  const auto arms = static_cast<std::size_t>(experiment.arms);
  while (true) {
    const AddRuns& goal = *experiment.add_runs;
    const std::vector<Verdict> verdicts = judge_cells(cells, goal.until_percent);
    bool added = false;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      const auto own = std::span(verdicts).subspan(cell * arms, arms);
      if (cells[cell].add_runs(own, goal)) added = true;
    }
    if (!added) return verdicts;
  }
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
