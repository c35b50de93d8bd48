#include "runner/measure/void_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "hosts/units.h"

namespace numabench {
namespace {

constexpr VoidRule::Broken kFound = VoidRule::Broken::kWhenFound;
constexpr VoidRule::Broken kAbove = VoidRule::Broken::kAbove;
constexpr VoidRule::Broken kFrom = VoidRule::Broken::kFrom;
constexpr VoidRule::Broken kBelow = VoidRule::Broken::kBelow;
constexpr bool kOnlyForPublishing = true;

bool is_broken(const VoidRule& rule, double value, double limit) {
  switch (rule.broken) {
    case kAbove:
      return value > limit;
    case kFrom:
      return value >= limit;
    case kBelow:
      return value < limit;
    case kFound:
      break;
  }
  return false;
}

const char* relation(VoidRule::Broken broken) {
  switch (broken) {
    case kAbove:
      return "above the limit of";
    case kFrom:
      return "at or above the limit of";
    case kBelow:
      return "below the limit of";
    case kFound:
      break;
  }
  return "";
}

std::string amount(const Metric& metric, double value) {
  if (metric.unit == "B") return format_bytes(value);
  return format_count(value, metric.decimals) + (metric.unit.empty() ? "" : " " + metric.unit);
}

/// "share of all CPUs that other processes used: 23.0 %, above the limit of 10.0 %"
std::string seen(const VoidRule& rule, double value, double limit) {
  const Metric& metric = *find_metric(rule.metric);
  return fmt::format("{}: {}, {} {}", rule.what, amount(metric, value), relation(rule.broken),
                     amount(metric, limit));
}

RuleSetting setting_of(const VoidPolicy& policy, const std::string& rule) {
  const auto found = policy.find(rule);
  return found == policy.end() ? RuleSetting{} : found->second;
}

RuleAction action_of(const VoidRule& rule, const RuleSetting& setting, bool publishable) {
  if (setting.action) return *setting.action;
  return rule.only_for_publishing && !publishable ? RuleAction::kWarn : RuleAction::kVoid;
}

/// The breaches of rules on values, in the order of the table.
std::vector<Breach> breaches_of_values(const std::vector<MetricValue>& values,
                                       const VoidPolicy& policy) {
  std::vector<Breach> breaches;
  for (const VoidRule& rule : void_rules()) {
    if (rule.broken == kFound) continue;
    const MetricValue* value = find_value(values, rule.metric);
    if (value == nullptr || !value->value) continue;
    const double limit = setting_of(policy, rule.name).limit.value_or(rule.limit);
    if (!is_broken(rule, *value->value, limit)) continue;
    breaches.push_back({rule.name, seen(rule, *value->value, limit)});
  }
  return breaches;
}

}  // namespace

const std::vector<VoidRule>& void_rules() {
  static const std::vector<VoidRule> kRules = {
      {"placement_escaped", "a process was not where its placement put it", kFound, "", 0,
       "find who moved it (cgroups, taskset, a job scheduler)"},
      {"settings_differ", "a setting of the server is not what was asked for", kFound, "", 0,
       "leave the server's settings alone while it is measured"},
      {"binary_differs", "the server is not the arm's binary", kFound, "", 0,
       "build the arm again"},
      {"server_restarted", "the server crashed or was restarted", kFound, "", 0,
       "look into the run's artifact server.log"},
      {"oom_kill", "processes that the kernel killed for want of memory", kAbove, "oom_kills", 0,
       "use less memory or take a larger host"},
      {"process_stopped", "processes of the run that were stopped (state T)", kAbove,
       "stopped_processes", 0, "let nobody stop or trace them"},
      {"aborted_clients", "a client lost its connection or gave up", kFound, "", 0,
       "look into the run's artifact server.log for what became of its connection"},
      {"zero_transactions", "transactions and scans that finished", kBelow, "finished_work", 1,
       "measure longer; look at the waits and at the server's log"},
      {"working_set_off", "the working set's ratio is off the planned one by", kAbove,
       "working_set_off_pct", 2, "compare by the measured ratio; load the data again",
       kOnlyForPublishing},
      {"pool_not_full", "how full the pool was as the window began", kBelow, "occupancy_before_pct",
       0, "warm up longer or choose a larger ratio"},
      {"huge_pages_short", "memory of the pool that huge pages were asked for and do not back",
       kAbove, "huge_pages_missing_bytes", 0, "raise vm.nr_hugepages"},
      {"swap_used", "pages that were swapped in or out", kAbove, "swapped_pages", 0,
       "turn swap off or use less memory"},
      {"disk_full", "free space of the data's filesystem", kBelow, "disk_free_pct", 1,
       "make room on it"},
      {"wall_clock_jump", "the wall clock moved against the monotonic one by", kAbove,
       "wall_clock_jump_s", 0.5, "let no one set the clock: chrony, ntpd, the hypervisor"},
      {"clocksource_changed", "changes of the kernel's clock source", kAbove, "clocksource_changes",
       0, "boot with tsc=reliable or name the clock source"},
      {"client_bound", "share of the clients' CPUs that the clients used", kFrom,
       "load_generator_pct", 90,
       "give the clients more threads (pgbench: {jobs: …}), more CPUs or a host of their own",
       kOnlyForPublishing},
      {"other_load", "share of all CPUs that other processes used", kAbove, "other_cpu_pct", 10,
       "stop what else runs on this host", kOnlyForPublishing},
      {"throttled", "times that a CPU was throttled", kAbove, "throttle_events", 0,
       "mend the cooling or lower the frequency", kOnlyForPublishing},
      {"frequency_moved", "the CPUs' frequency moved by", kAbove, "frequency_moved_pct", 5,
       "set the governor 'performance' and turn turbo off", kOnlyForPublishing},
  };
  return kRules;
}

const VoidRule* find_void_rule(std::string_view name) {
  const auto found =
      std::ranges::find_if(void_rules(), [&](const VoidRule& rule) { return rule.name == name; });
  return found == void_rules().end() ? nullptr : &*found;
}

std::optional<RuleSetting> parse_rule_setting(const VoidRule& rule, std::string_view text) {
  RuleSetting setting;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (!setting.action && !setting.limit && (word == "void" || word == "warn")) {
      setting.action = word == "void" ? RuleAction::kVoid : RuleAction::kWarn;
      continue;
    }
    if (setting.limit || rule.broken == kFound) return std::nullopt;
    const bool in_percent = word.ends_with('%');
    if (in_percent && find_metric(rule.metric)->unit != "%") return std::nullopt;
    if (in_percent) word.pop_back();
    setting.limit = parse_number(word);
    if (!setting.limit || *setting.limit < 0) return std::nullopt;
  }
  return setting == RuleSetting{} ? std::nullopt : std::optional(setting);
}

std::string to_string(const RuleSetting& setting) {
  std::string text;
  if (setting.action) text = *setting.action == RuleAction::kVoid ? "void" : "warn";
  if (setting.limit) text += (text.empty() ? "" : " ") + format_exact(*setting.limit);
  return text;
}

Ruling judge(const std::vector<Breach>& found, const std::vector<MetricValue>& values,
             const VoidPolicy& policy, bool publishable) {
  std::vector<Breach> all = found;
  std::ranges::move(breaches_of_values(values, policy), std::back_inserter(all));
  Ruling ruling;
  for (const Breach& breach : all) {
    const VoidRule& rule = *find_void_rule(breach.rule);
    const std::string text = fmt::format("{}: {}; {}", rule.name, breach.what, rule.remedy);
    const bool voids =
        action_of(rule, setting_of(policy, rule.name), publishable) == RuleAction::kVoid;
    if (voids && ruling.void_reason.empty()) {
      ruling.void_reason = text;
    } else {
      ruling.warnings.push_back(text);
    }
  }
  return ruling;
}

}  // namespace numabench
