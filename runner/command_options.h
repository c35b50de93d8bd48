// Options that several commands share, spelled and described once.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/comparison.h"
#include "reports/store.h"
#include "runner/config/load.h"
#include "runner/selector.h"

namespace numabench {

/// CONFIG, --set, --seed, --runs, --smoke.
struct ConfigOptions {
  std::string path;
  ConfigOverrides overrides;

  void add_to(CLI::App& command);
};

/// -n, --where, --failed.
struct SelectorOptions {
  std::string name_regex;
  std::string where;
  bool failed = false;

  void add_to(CLI::App& command);
  bool any() const { return failed || !name_regex.empty() || !where.empty(); }
  /// The cells these options select; --failed means cells with a failed or void run of
  /// `experiment_id`.
  CellPredicate predicate(const Store& store, std::int64_t experiment_id) const;
  /// For a plan that has no results yet. Throws Error(kUsage) with --failed.
  CellPredicate predicate() const;
};

/// An experiment in a results file: "results/quick.db" (its latest) or "results/quick.db#3".
struct ExperimentReference {
  std::string path;
  std::optional<std::int64_t> id;

  /// Throws Error(kUsage) when what follows '#' is no number.
  static ExperimentReference parse(const std::string& text);
  /// Throws Error(kUsage) when the file holds no such experiment, naming those it holds.
  ExperimentRecord find_in(const Store& store) const;
};

/// --metric, --baseline: what a table shows.
struct TableOptions {
  std::vector<std::string> metrics;
  std::string baseline;

  void add_to(CLI::App& command);
  ComparisonOptions comparison(const Store& store, const ExperimentRecord& experiment,
                               const SelectorOptions& selectors) const;
};

/// The positional argument EXPERIMENT: "FILE.db (its latest experiment) or FILE.db#ID".
void add_experiment_option(CLI::App& command, std::string& reference);

/// --format of the registered report formats.
void add_format_option(CLI::App& command, std::string& format);

/// Renders to standard output in the named format, with the colour and width of the terminal.
void print_comparison(const Comparison& comparison, const std::string& format);

}  // namespace numabench
