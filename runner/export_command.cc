// `numabench export`: every raw run of an experiment.
#include <fmt/format.h>

#include <cstdio>

#include "hosts/files.h"
#include "reports/export.h"
#include "runner/command_options.h"
#include "runner/commands.h"

namespace numabench {
namespace {

struct ExportOptions {
  std::string reference;
  std::string format = "csv";
  std::string output;
  SelectorOptions selectors;
};

int export_runs(const ExportOptions& options) {
  const auto reference = ExperimentReference::parse(options.reference);
  const Store store = Store::open(reference.path, Store::Mode::kReadOnly);
  const std::int64_t id = reference.find_in(store).id;
  const CellPredicate wanted = options.selectors.predicate(store, id);
  const std::string text =
      options.format == "csv" ? export_csv(store, id, wanted) : export_json(store, id, wanted);
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_text_file(options.output, text);
  }
  return 0;
}

}  // namespace

void add_export_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = add_subcommand(
      app, "export", "Write every run of an experiment, failed ones too, as CSV or JSON",
      "numabench export results/quick.db --format csv -o quick.csv");
  add_experiment_option(*command, options->reference);
  command->add_option("--format", options->format, "csv or json")
      ->check(CLI::IsMember({"csv", "json"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output,
                      "The file to write (default: standard output)");
  options->selectors.add_to(*command);
  command->callback([options, &chosen] { chosen = [options] { return export_runs(*options); }; });
}

}  // namespace numabench
