// The rules by which a run is void: its numbers exist and must not count.
//
// Start here: void_rules() is the table. A rule is broken by a value of the run that is beyond its
// limit, or by something that an engine has seen; judge() decides from both, and from nothing else,
// so that everything it says can be checked in the store.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/metric.h"

namespace numabench {

enum class RuleAction { kVoid, kWarn };

struct VoidRule {
  enum class Broken {
    kWhenFound,  ///< by an engine, which says what it saw
    kAbove,      ///< the metric's value is above the limit
    kFrom,       ///< … or at it
    kBelow,      ///< … below it
  };
  const char* name;  ///< in configs and in the reasons of runs: "other_load"
  const char* what;  ///< one phrase of what went wrong
  Broken broken;
  const char* metric;  ///< "" when an engine finds it
  double limit;        ///< in the metric's unit
  const char* remedy;
  /// Depends on what else the host does, or on the sizes of a smoke run: it only warns where the
  /// window is too short to publish, unless a config says otherwise.
  bool only_for_publishing = false;
};

const std::vector<VoidRule>& void_rules();
/// nullptr when there is none of this name.
const VoidRule* find_void_rule(std::string_view name);

/// What a config changes about one rule.
struct RuleSetting {
  std::optional<double> limit;
  std::optional<RuleAction> action;

  bool operator==(const RuleSetting&) const = default;
};
using VoidPolicy = std::map<std::string, RuleSetting>;  ///< by rule

/// "void", "warn 5", "10%": an action, a limit in the unit of the rule's metric, or both. nullopt
/// for anything else, and for a limit of a rule that has none.
std::optional<RuleSetting> parse_rule_setting(const VoidRule& rule, std::string_view text);
/// The same backwards.
std::string to_string(const RuleSetting& setting);

/// One broken rule.
struct Breach {
  std::string rule;
  std::string what;  ///< what was seen: "server (pid 17): cpus 0-1, not 0"
};

struct Ruling {
  std::string void_reason;            ///< "rule: what was seen; remedy"; empty: the run counts
  std::vector<std::string> warnings;  ///< the other broken rules, in the same words
};

/// `found` are the breaches that engines have seen, `values` all of the run's. A value that is
/// absent breaks no rule. `publishable`: the run is long enough to be published.
Ruling judge(const std::vector<Breach>& found, const std::vector<MetricValue>& values,
             const VoidPolicy& policy, bool publishable);

}  // namespace numabench
