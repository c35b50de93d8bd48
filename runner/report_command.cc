// `numabench report`: the tables, and if asked the figures, of a stored experiment.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <optional>

#include "hosts/error.h"
#include "reports/comparison.h"
#include "reports/figures.h"
#include "reports/proof_table.h"
#include "reports/run_figure.h"
#include "runner/command_options.h"
#include "runner/commands.h"

namespace numabench {
namespace {

struct ReportOptions {
  std::string reference;
  std::string format = "terminal";
  std::string figures;
  bool proof = false;
  std::optional<std::int64_t> run;
  TableOptions table;
  SelectorOptions selectors;
};

int print_proofs(const Store& store, const ExperimentRecord& experiment,
                 const ReportOptions& options) {
  const auto wanted = options.selectors.predicate(store, experiment.id);
  fmt::print("{}", format_placement_proofs(store, experiment.id, wanted));
  return 0;
}

int draw_one_run(const Store& store, std::int64_t id, const ReportOptions& options) {
  const std::optional<FoundRun> found = find_run(store, id);
  if (!found) {
    throw Error(ErrorKind::kUsage, fmt::format("{} has no run {}", store.path(), id),
                "export lists all runs with their ids, status those that went wrong");
  }
  for (const std::string& path :
       draw_run(store, *found, options.figures.empty() ? "." : options.figures)) {
    fmt::print("{}\n", path);
  }
  return 0;
}

int report(const ReportOptions& options) {
  const auto reference = ExperimentReference::parse(options.reference);
  const Store store = Store::open(reference.path, Store::Mode::kReadOnly);
  if (options.run) return draw_one_run(store, *options.run, options);
  if (options.proof) return print_proofs(store, reference.find_in(store), options);
  const Comparison comparison = compare_arms(
      store, options.table.comparison(store, reference.find_in(store), options.selectors));
  print_comparison(comparison, options.format);
  if (!options.figures.empty()) {
    for (const std::string& path : draw_figures(comparison, comparison.metrics, options.figures)) {
      fmt::print(stderr, "{}\n", path);
    }
  }
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = add_subcommand(
      app, "report", "Print the tables of an experiment and draw its figures",
      "numabench report results/quick.db --format markdown --metric tps --metric tail");
  add_experiment_option(*command, options->reference);
  add_format_option(*command, options->format);
  command->add_option("--figures", options->figures, "Draw SVG and PNG figures into this folder");
  command->add_option("--run", options->run,
                      "Draw the seconds of the run of this id instead, with what happened "
                      "meanwhile, into the folder of --figures or the current one");
  command->add_flag("--proof", options->proof,
                    "Print where each process and the pool's memory were instead, run by run");
  options->table.add_to(*command);
  options->selectors.add_to(*command);
  command->callback([options, &chosen] { chosen = [options] { return report(*options); }; });
}

}  // namespace numabench
