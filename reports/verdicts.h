// From the runs of a comparison to its verdicts: pairs, noise floors and families.
//
// Runs of one repetition of one group of cells make a block: they get the same page strings and
// stand close together in time, so that an arm's run and the baseline's are a pair.
#pragma once

#include <string>
#include <vector>

#include "reports/comparison.h"
#include "reports/comparison_rows.h"

namespace numabench {

/// log(arm ÷ baseline) of each repetition that counts in both. Empty when a value is not above
/// zero: it has no ratio.
std::vector<double> paired_log_ratios(const std::vector<RunRecord>& arm,
                                      const std::vector<RunRecord>& baseline,
                                      const std::string& metric);

/// What the runs of a cell say beside those of another; nullopt without a pair.
std::optional<Evidence> paired_evidence(const std::vector<RunRecord>& arm,
                                        const std::vector<RunRecord>& baseline,
                                        const std::string& metric);

/// The noise floors of one experiment and metric: those of its A/A copy.
class NoiseFloors {
 public:
  NoiseFloors(const ExperimentData& data, const std::string& metric);

  /// Of the copy's cell in this group, or of all its cells where that has no two pairs. nullptr
  /// where no copy ran.
  const Noise* of_group(const std::string& group) const;
  const std::optional<Noise>& pooled() const { return pooled_; }
  /// Adds the floor of the group to what is known of one of its cells.
  void hold(Evidence& evidence, const std::string& group) const;

 private:
  std::map<std::string, Noise> by_group_;
  std::optional<Noise> pooled_;
};

/// Sets the judgement of every value beside the baseline arm's, and comparison.noise. A family is
/// all rows of the comparison in one metric.
void judge_arms(Comparison& comparison, const ExperimentData& data, double resolution_percent);

/// The same for the rows "after" of two experiments, whose runs are not in pairs.
void judge_experiments(Comparison& comparison, const ExperimentData& before,
                       const ExperimentData& after, double resolution_percent);

}  // namespace numabench
