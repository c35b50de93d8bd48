#include "runner/command_options.h"

#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "hosts/error.h"
#include "hosts/units.h"
#include "reports/formats/format.h"
#include "runner/progress.h"

namespace numabench {

void ConfigOptions::add_to(CLI::App& command) {
  command.add_option("config", path, "The experiment's YAML file")->required();
  command
      .add_option("--set", overrides.sets,
                  "Change a value of the config: a.b.c=value, with arms and workloads by name "
                  "(arms.full-series.policy.bound=32); may be repeated")
      ->allow_extra_args(false);
  command.add_option("--seed", overrides.seed, "Seed of the order and of all workloads");
  command.add_option_function<std::string>(
      "--order", [this](const std::string& order) { overrides.sets.push_back("order=" + order); },
      "blocked (the arms of a group close together, rotated), config (as written: drift becomes a "
      "difference of arms) or random (by the seed)");
  command.add_option("--runs", overrides.runs, "Runs per cell");
  command.add_flag(
      "--smoke", overrides.smoke,
      "Tiny sizes and one-second windows: does everything work? The results are marked "
      "and never compared with others");
  command.add_flag(
      "--scale-to-host", overrides.scale_to_host,
      "Shrink all sizes by one factor, so that the largest cell fits into half of this "
      "host's memory, and the clients to four a CPU; ratios stay, and every table says "
      "so");
}

void SelectorOptions::add_to(CLI::App& command) {
  command.add_option("-n,--name", name_regex,
                     "Only cells whose label (arm workload ratio=… pool=… clients=… placement) "
                     "matches this regular expression");
  command.add_option("--where", where,
                     "Only cells whose factors fulfil all conditions, as in "
                     "'arm=numa-only,ratio>=2'");
  command.add_flag("--failed", failed, "Only cells with a failed or void run");
}

CellPredicate SelectorOptions::predicate() const {
  if (failed) {
    throw Error(ErrorKind::kUsage, "--failed needs results",
                "use it with resume, status, report, compare or export");
  }
  return make_selector(name_regex, where);
}

CellPredicate SelectorOptions::predicate(const Store& store, std::int64_t experiment_id) const {
  CellPredicate by_factors = make_selector(name_regex, where);
  if (!failed) return by_factors;
  std::set<std::int64_t> failed_cells;
  for (const RunRecord& run : store.runs(experiment_id)) {
    if (run.status != RunStatus::kOk) failed_cells.insert(run.cell_id);
  }
  return [by_factors = std::move(by_factors), failed_cells](const CellRecord& cell) {
    return failed_cells.contains(cell.id) && by_factors(cell);
  };
}

ExperimentReference ExperimentReference::parse(const std::string& text) {
  const auto hash = text.rfind('#');
  if (hash == std::string::npos) return {text, std::nullopt};
  const std::optional<double> id = parse_number(text.substr(hash + 1));
  if (!id) {
    throw Error(ErrorKind::kUsage, fmt::format("'{}' names no experiment", text),
                "write FILE.db or FILE.db#ID");
  }
  return {text.substr(0, hash), static_cast<std::int64_t>(*id)};
}

ExperimentRecord ExperimentReference::find_in(const Store& store) const {
  const std::vector<ExperimentRecord> all = store.experiments();
  if (all.empty()) {
    throw Error(ErrorKind::kUsage, path + " holds no experiment yet", "numabench run CONFIG");
  }
  if (!id) return all.back();
  for (const ExperimentRecord& experiment : all) {
    if (experiment.id == *id) return experiment;
  }
  std::string known;
  for (const ExperimentRecord& experiment : all) {
    known += fmt::format("{}#{}", known.empty() ? "" : ", ", experiment.id);
  }
  throw Error(ErrorKind::kUsage, fmt::format("{} has no experiment #{}", path, *id),
              "it holds " + known);
}

void TableOptions::add_to(CLI::App& command) {
  command.add_option("--metric", metrics, "Show this metric; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--baseline", baseline, "The arm to compare with");
}

ComparisonOptions TableOptions::comparison(const Store& store, const ExperimentRecord& experiment,
                                           const SelectorOptions& selectors) const {
  ComparisonOptions options;
  options.experiment_id = experiment.id;
  options.baseline_arm = baseline;
  options.metrics = metrics;
  options.wanted = selectors.predicate(store, experiment.id);
  return options;
}

void add_experiment_option(CLI::App& command, std::string& reference) {
  command.add_option("experiment", reference, "FILE.db (its latest experiment) or FILE.db#ID")
      ->required();
}

void add_format_option(CLI::App& command, std::string& format) {
  std::string known;
  for (const ReportFormat& candidate : report_formats()) {
    known += (known.empty() ? "" : ", ") + candidate.name;
  }
  command.add_option("--format", format, "One of " + known)->capture_default_str();
}

void print_comparison(const Comparison& comparison, const std::string& format) {
  const TerminalStyle style = TerminalStyle::of(stdout);
  fmt::print("{}", find_report_format(format).render(comparison, {style.color, style.width}));
}

}  // namespace numabench
