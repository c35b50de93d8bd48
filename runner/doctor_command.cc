// `numabench doctor`: what spoils the numbers of this host, changing it, and putting it back.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "hosts/doctor/host_check.h"
#include "hosts/error.h"
#include "hosts/tuning.h"
#include "runner/command_options.h"
#include "runner/commands.h"
#include "runner/host_lease.h"
#include "runner/host_sheet.h"
#include "runner/open_journal.h"
#include "runner/planned_experiment.h"
#include "runner/progress.h"

namespace numabench {
namespace {

struct DoctorOptions {
  ConfigOptions config;
  std::string format = "text";
  bool explain = false;
  bool apply = false;
  bool restore = false;
  bool force = false;
};

struct Examination {
  HostNeeds needs;
  std::vector<HostCheck> sheet;
};

Examination examine(const DoctorOptions& options) {
  Examination result;
  if (options.config.path.empty()) {
    const HostLease lease("local");
    result.sheet = examine_host(view_this_host(lease.host().snapshot), result.needs);
    return result;
  }
  const PlannedExperiment planned = plan_experiment(options.config.path, options.config.overrides,
                                                    [](const CellRecord&) { return true; });
  result.needs = needs_of(planned.experiment(), planned.host(), planned.plan);
  result.sheet = examine_host(view_this_host(planned.host().snapshot), result.needs);
  return result;
}

/// What disturbs and can be changed, and what the experiment names.
std::vector<HostSetting> settings_of(const Examination& examination) {
  std::vector<HostSetting> settings;
  for (const HostCheck& check : examination.sheet) {
    const bool chosen = examination.needs.settings.contains(check.name);
    if (check.rating < Rating::kWarn && !chosen) continue;
    for (const FileSetting& setting : check.settings) {
      settings.push_back({check.name, setting.path, setting.value});
    }
  }
  return settings;
}

/// Lines that --apply leaves as they are; the number of those that the experiment had asked for.
int print_untouched(const Examination& examination) {
  int asked = 0;
  for (const HostCheck& check : examination.sheet) {
    if (!check.settings.empty()) continue;
    const bool chosen = examination.needs.settings.contains(check.name);
    if (chosen) ++asked;
    if (check.rating < Rating::kWarn && !chosen) continue;
    fmt::print("not set  {}: {} (wanted: {}); {}\n", check.name,
               check.reason.empty() ? check.value : check.reason, check.wanted, check.how);
  }
  return asked;
}

const char* verb_of(SettingOutcome::Kind kind) {
  switch (kind) {
    case SettingOutcome::Kind::kChanged:
      return "set";
    case SettingOutcome::Kind::kAlready:
      return "as it is";
    case SettingOutcome::Kind::kForeign:
      return "left";
    case SettingOutcome::Kind::kFailed:
      break;
  }
  return "FAILED";
}

bool same_news(const SettingOutcome& a, const SettingOutcome& b) {
  return a.kind == b.kind && a.setting.name == b.setting.name &&
         a.setting.value == b.setting.value && a.before == b.before && a.problem == b.problem;
}

std::string describe(const SettingOutcome& outcome, std::ptrdiff_t files) {
  const std::string where = files == 1
                                ? outcome.setting.path
                                : fmt::format("{} and {} more", outcome.setting.path, files - 1);
  const std::string change =
      outcome.kind == SettingOutcome::Kind::kAlready
          ? outcome.before
          : fmt::format("{} -> {}", outcome.before.empty() ? "?" : outcome.before,
                        outcome.setting.value);
  return fmt::format("{:<8} {}: {}  {}{}{}", verb_of(outcome.kind), outcome.setting.name, change,
                     where, outcome.problem.empty() ? "" : ": ", outcome.problem);
}

/// One line for alike settings of many files; returns how many went wrong.
int print_outcomes(const std::vector<SettingOutcome>& outcomes) {
  int wrong = 0;
  for (auto first = outcomes.begin(); first != outcomes.end();) {
    const auto last = std::find_if_not(first, outcomes.end(), [&](const SettingOutcome& other) {
      return same_news(*first, other);
    });
    fmt::print("{}\n", describe(*first, last - first));
    const bool failed = first->kind == SettingOutcome::Kind::kFailed ||
                        first->kind == SettingOutcome::Kind::kForeign;
    if (failed) wrong += static_cast<int>(last - first);
    first = last;
  }
  return wrong;
}

/// Shows which setting is being written: hundreds of CPUs take their time.
HostTuning::Observer show_progress() {
  const TerminalStyle style = TerminalStyle::of(stderr);
  return [style](const SettingOutcome& outcome) {
    print_transient(stderr, style, outcome.setting.path);
  };
}

int apply(const DoctorOptions& options) {
  const Examination examination = examine(options);
  const HostTuning tuning(HostTuning::default_state_directory());
  const auto outcomes = tuning.apply(settings_of(examination), show_progress());
  print_transient(stderr, TerminalStyle::of(stderr), "");
  const int wrong = print_outcomes(outcomes) + print_untouched(examination);
  if (tuning.open_journal()) {
    fmt::print("old values are in {}; put back with: numabench doctor --restore\n",
               tuning.journal_path());
  }
  if (wrong == 0) return 0;
  throw Error(ErrorKind::kPreflight,
              fmt::format("{} setting{} could not be made as wanted", wrong, wrong == 1 ? "" : "s"),
              "the lines above say why");
}

int restore(const DoctorOptions& options) {
  const HostTuning tuning(HostTuning::default_state_directory());
  const auto outcomes = tuning.restore(options.force, show_progress());
  print_transient(stderr, TerminalStyle::of(stderr), "");
  if (outcomes.empty()) {
    fmt::print("the host has been booted since: it has its own values again\n");
    return 0;
  }
  const int wrong = print_outcomes(outcomes);
  if (wrong == 0) return 0;
  throw Error(ErrorKind::kPreflight,
              fmt::format("{} setting{} not put back; {} keeps them", wrong,
                          wrong == 1 ? " was" : "s were", tuning.journal_path()),
              "--restore --force overwrites what somebody else has changed");
}

void print_summary(const std::vector<HostCheck>& sheet) {
  const auto count = [&](Rating rating) {
    return std::ranges::count(sheet, rating, &HostCheck::rating);
  };
  fmt::print("\n{} red (not fit to publish), {} warn (may disturb), {} note, {} ok\n",
             count(Rating::kRed), count(Rating::kWarn), count(Rating::kNote), count(Rating::kOk));
}

int doctor(const DoctorOptions& options) {
  if (options.restore) return restore(options);
  tell_of_open_journal();
  if (options.apply) return apply(options);
  const Examination examination = examine(options);
  if (options.format == "json") {
    fmt::print("{}\n", to_json(examination.sheet));
    return 0;
  }
  fmt::print("{}", format_sheet(examination.sheet, options.explain));
  print_summary(examination.sheet);
  return 0;
}

}  // namespace

void add_doctor_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command =
      add_subcommand(app, "doctor", "Show what spoils this host's numbers, change it, put it back",
                     "numabench doctor configs/second-chance.yaml --apply");
  options->config.add_to(*command);
  command->get_option("config")->required(false)->description(
      "The experiment whose needs are to be met; without it the usual ones");
  command->add_option("--format", options->format, "One of text, json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--explain", options->explain, "Why and how of the lines that are ok, too");
  CLI::Option* apply = command->add_flag(
      "--apply", options->apply,
      "Set what is warn or red and can be set, and the experiment's host_settings; the old values "
      "are kept in a journal");
  CLI::Option* restore =
      command->add_flag("--restore", options->restore, "Put back exactly what --apply found");
  restore->excludes(apply);
  command
      ->add_flag("--force", options->force,
                 "With --restore: overwrite what somebody else has changed since")
      ->needs(restore);
  command->callback([options, &chosen] { chosen = [options] { return doctor(*options); }; });
}

}  // namespace numabench
