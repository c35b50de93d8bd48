// `numabench compare`: arms within an experiment, or the same arms of two experiments.
#include <fmt/format.h>

#include <cmath>

#include "hosts/error.h"
#include "hosts/units.h"
#include "reports/comparison.h"
#include "runner/command_options.h"
#include "runner/commands.h"

namespace numabench {
namespace {

constexpr int kRegressionExitCode = 1;
constexpr int kInconclusiveExitCode = 5;

struct CompareOptions {
  std::string before;
  std::string after;
  std::string series;
  std::string format = "terminal";
  std::string threshold;
  bool strict = false;
  TableOptions table;
  SelectorOptions selectors;
};

/// In percent; without a threshold, what verdicts take for the smallest difference that matters.
double resolution_percent(const CompareOptions& options) {
  if (options.threshold.empty()) return kResolutionPercent;
  std::string text = options.threshold;
  if (text.ends_with('%')) text.pop_back();
  const std::optional<double> percent = parse_number(text);
  if (percent && *percent > 0) return *percent;
  throw Error(ErrorKind::kUsage,
              fmt::format("--threshold: '{}' is no percentage", options.threshold),
              "write it as 1%");
}

Comparison compare_within(const CompareOptions& options) {
  const auto reference = ExperimentReference::parse(options.before);
  const Store store = Store::open(reference.path, Store::Mode::kReadOnly);
  ComparisonOptions wanted =
      options.table.comparison(store, reference.find_in(store), options.selectors);
  wanted.resolution_percent = resolution_percent(options);
  return options.series.empty() ? compare_arms(store, wanted)
                                : compare_series(store, wanted, options.series);
}

Comparison compare_between(const CompareOptions& options) {
  if (!options.table.baseline.empty()) {
    throw Error(ErrorKind::kUsage, "--baseline names an arm of one experiment",
                "leave it out when two experiments are compared: the first is the baseline");
  }
  if (!options.series.empty()) {
    throw Error(ErrorKind::kUsage, "--series follows the patches of one experiment",
                "name that experiment only");
  }
  const auto before_reference = ExperimentReference::parse(options.before);
  const auto after_reference = ExperimentReference::parse(options.after);
  const Store before = Store::open(before_reference.path, Store::Mode::kReadOnly);
  const Store after = Store::open(after_reference.path, Store::Mode::kReadOnly);
  ComparisonOptions wanted =
      options.table.comparison(after, after_reference.find_in(after), options.selectors);
  wanted.resolution_percent = resolution_percent(options);
  return compare_experiments(
      before, options.table.comparison(before, before_reference.find_in(before), options.selectors),
      after, wanted);
}

struct Finding {
  bool regression = false;  ///< worse by more than the threshold
  bool open = false;        ///< neither shown to differ nor shown not to
};

void find_in(const ComparisonValue* value, double threshold_percent, Finding& finding) {
  if (value == nullptr || !value->judgement) return;
  const Judgement& judgement = *value->judgement;
  const double change = std::abs(percent_of_log(judgement.difference.log_ratio));
  switch (judgement.verdict.kind) {
    case VerdictKind::kWorse:
      finding.regression = finding.regression || change > threshold_percent;
      break;
    case VerdictKind::kInconclusive:
    case VerdictKind::kUnstable:
      finding.open = true;
      break;
    default:
      break;
  }
}

/// A cell without a run that counts has no verdict either.
Finding findings_of(const Comparison& comparison, double threshold_percent) {
  Finding finding;
  for (const ComparisonTable& table : comparison.tables) {
    for (const ComparisonRow& row : table.rows) {
      if (row.is_baseline || row.is_copy) continue;
      finding.open = finding.open || !row.problem.empty();
      for (const std::string& metric : comparison.judged_metrics) {
        find_in(row.find(metric), threshold_percent, finding);
      }
    }
  }
  return finding;
}

int compare(const CompareOptions& options) {
  const double threshold_percent = resolution_percent(options);
  const Comparison comparison =
      options.after.empty() ? compare_within(options) : compare_between(options);
  print_comparison(comparison, options.format);
  const Finding finding = findings_of(comparison, threshold_percent);
  if (!options.threshold.empty() && finding.regression) return kRegressionExitCode;
  if (options.strict && finding.open) return kInconclusiveExitCode;
  return 0;
}

}  // namespace

void add_compare_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = add_subcommand(
      app, "compare",
      "Compare the arms of an experiment with a baseline arm, or two experiments with each other",
      "numabench compare results/quick.db --baseline numa-only\n"
      "         numabench compare results/quick.db --threshold 1% --strict\n"
      "         numabench compare results/quick.db#1 results/quick.db#2");
  command
      ->add_option("experiment", options->before,
                   "FILE.db (its latest experiment) or FILE.db#ID; the baseline when two are given")
      ->required();
  command->add_option("other", options->after, "The experiment to compare with the first");
  command->add_option("--series", options->series,
                      "Each arm of this series (series: each-prefix) beside the one with a patch "
                      "less, and the first patch that changes the metric (tps, or --metric)");
  command->add_option("--threshold", options->threshold,
                      "Exit with 1 when an arm is shown to be worse by more than this (1%) in a "
                      "throughput, or in a --metric; also the smallest difference that verdicts "
                      "look for (else 2%)");
  command->add_flag("--strict", options->strict,
                    "Exit with 5 when a verdict is inconclusive or unstable, or a cell has no "
                    "result");
  add_format_option(*command, options->format);
  options->table.add_to(*command);
  options->selectors.add_to(*command);
  command->callback([options, &chosen] { chosen = [options] { return compare(*options); }; });
}

}  // namespace numabench
