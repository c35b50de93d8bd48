// From the store to the table model that every format renders.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reports/statistics.h"
#include "reports/statistics/noise_floor.h"
#include "reports/statistics/verdict.h"
#include "reports/store.h"

namespace numabench {

/// An arm beside another in one metric: what their runs say of each other.
struct Judgement {
  Difference difference;
  std::optional<double> floor;  ///< log ratio, of the A/A copy; absent where none ran
  Verdict verdict;              ///< of the copy itself: none, a default one
};

/// One metric of one cell, beside the baseline arm's.
struct ComparisonValue {
  std::string metric;
  std::optional<Summary> summary;  ///< of the runs that count
  /// Of the medians; 100 is equal. Absent for the baseline itself and without a baseline median or
  /// with one of 0.
  std::optional<double> percent_of_baseline;
  /// Beside the baseline arm's runs, or of an A/A copy beside those of its original. Absent for the
  /// baseline and where no two runs make a pair or one is not above zero.
  std::optional<Judgement> judgement = {};
  std::string reason;  ///< why there is no summary
};

/// One arm in one group: a row of a table.
struct ComparisonRow {
  CellRecord cell;
  std::string side;  ///< "before" or "after" when two experiments are compared, else empty
  bool is_baseline = false;
  bool is_copy = false;  ///< of a second copy of an arm (A/A): it has a noise floor, no verdict
  int runs_ok = 0;       ///< runs that count
  int runs_total = 0;    ///< finished runs, failed and void ones included
  int runs_planned = 0;  ///< with those that were added
  /// Set when no run counts: "FAILED: reason" (or VOID, INTERRUPTED; each distinct reason, with its
  /// count where there are several) or "NOT RUN".
  std::string problem;
  /// Of the runs that count, texts that differ in numbers only taken as one ("2.4 laps: fewer than
  /// three"), without those that are a note; and how many runs were left out, for each distinct
  /// reason.
  std::vector<std::string> warnings;
  std::vector<ComparisonValue> values;  ///< one per metric of the comparison, in its order

  const ComparisonValue* find(const std::string& metric) const;
};

/// All rows of one (workload, regime, pool, clients, placement), arms within ratios, the baseline
/// first. Where the experiment holds the working set and varies the pool, the working set takes the
/// place of the pool, so that a table is always a metric against the ratio.
struct ComparisonTable {
  std::string title;  ///< "zipfian · pool 512 MiB · 24 clients · placement free · regime none"
  std::vector<ComparisonRow> rows;
};

/// One arm of a series of patches in one group of cells.
struct SeriesStep {
  std::string arm;
  std::string patch;  ///< the last that this arm has; empty for where the series starts
  std::optional<Summary> summary;
  std::string reason;  ///< why there is no summary
  /// Of its median to that of the last step before it that has one. Absent for the first, without a
  /// median and after one of 0.
  std::optional<double> ratio_to_step_before;
  /// Beside the runs of that step.
  std::optional<Judgement> judgement = {};
};

/// A series of patches in one group of cells: the baseline arm, then each prefix.
struct SeriesTable {
  std::string title;
  std::string metric;
  std::vector<SeriesStep> steps;
  std::string conclusion;  ///< which patch is the first to change the metric, or that none does
};

/// How much two copies of the same arm differed, in all cells together.
struct MetricNoise {
  std::string metric;
  Noise noise;
};

struct Comparison {
  ExperimentRecord experiment;
  HostRecord host;
  std::optional<ExperimentRecord> before;  ///< when two experiments are compared: the earlier one …
  std::optional<HostRecord> before_host;  ///< … and its host
  std::string
      baseline_arm;  ///< what percentages refer to; "before" when two experiments are compared
  std::vector<std::string> metrics;     ///< columns
  std::vector<ComparisonTable> tables;  ///< in plan order
  std::vector<SeriesTable> series;      ///< of compare_series()
  std::vector<MetricNoise> noise;       ///< of the metrics that an A/A copy has
  /// Those of `metrics` that verdicts are printed for: what was asked for, else the throughputs.
  std::vector<std::string> judged_metrics;
  std::vector<ArmRecord> arms;         ///< all of the experiment
  std::vector<ArmRecord> before_arms;  ///< when two experiments are compared
  /// What the reader must know: smoke, the warnings of every cell, …
  std::vector<std::string> notes;
};

struct ComparisonOptions {
  std::int64_t experiment_id = 0;
  std::string baseline_arm;                        ///< empty: the experiment's own
  std::vector<std::string> metrics;                ///< empty: default_metrics()
  std::function<bool(const CellRecord&)> wanted;   ///< a selector; empty: all cells
  double resolution_percent = kResolutionPercent;  ///< the smallest difference that matters
};

/// Equal for warnings that differ in numbers only: "2.4 laps: fewer than three", "2.5 laps: …".
std::string warning_kind(const std::string& warning);

/// A rate of completed work, of which percentages of the baseline are what people quote.
bool is_throughput(const Metric& metric);

/// tps, hit_pct, reads, adv_per_victim, tail, … : the columns of the threads on pgsql-hackers.
std::vector<std::string> default_metrics();

/// Percentages refer to the baseline arm's cell of the same group even where `wanted` leaves that
/// cell out of the tables. Throws Error(kUsage) for an unknown experiment, baseline arm or metric,
/// and when `wanted` leaves no cell.
Comparison compare_arms(const Store& store, const ComparisonOptions& options);

/// The arms of `series: each-prefix` written under `name`, each beside the one with a patch less.
/// The first is beside the baseline arm: what the series extends is not stored. A family of
/// verdicts is one series in one group. The metric is the first of options.metrics; without one
/// tps, or scans_per_s where nothing has tps. Throws as compare_arms() does, and Error(kUsage)
/// naming the series there are when `name` is none.
Comparison compare_series(const Store& store, const ComparisonOptions& options,
                          const std::string& name);

/// The same arms of two experiments: each cell of `after` in a row below the cell of `before` that
/// has equal factors and is its baseline. Their runs are not in pairs. `metrics` are those of
/// `after_options`; no baseline arm is used. Throws Error(kUsage) when one is a smoke run and the
/// other is not, or no cells match.
Comparison compare_experiments(const Store& before, const ComparisonOptions& before_options,
                               const Store& after, const ComparisonOptions& after_options);

}  // namespace numabench
