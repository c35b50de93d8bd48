#include "runner/config/pool_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "hosts/error.h"
#include "hosts/spelling.h"
#include "hosts/units.h"

namespace numabench {
namespace {

/// A switch as configs spell it, with the access to its member.
struct PolicySwitch {
  PolicyOption option;
  std::function<std::string(const PoolPolicy&)> get;
  std::function<void(PoolPolicy&, const std::string&)> set;
};

[[noreturn]] void refuse(const std::string& problem, const std::string& remedy) {
  throw Error(ErrorKind::kUsage, problem, remedy);
}

/// `values` in the order of the enumerators (or false, true).
template <typename Enum>
PolicySwitch choice(std::string name, Enum PoolPolicy::*member, std::vector<std::string> values,
                    std::string description) {
  PolicySwitch result{{name, values, std::move(description)}, nullptr, nullptr};
  result.get = [=](const PoolPolicy& policy) {
    return values[static_cast<std::size_t>(policy.*member)];
  };
  result.set = [=](PoolPolicy& policy, const std::string& text) {
    const auto found = std::find(values.begin(), values.end(), text);
    if (found == values.end()) {
      refuse(fmt::format("policy switch '{}' cannot be '{}'", name, text), suggest(text, values));
    }
    policy.*member = static_cast<Enum>(found - values.begin());
  };
  return result;
}

PolicySwitch flag(std::string name, bool PoolPolicy::*member, std::string description) {
  return choice(std::move(name), member, {"false", "true"}, std::move(description));
}

PolicySwitch integer(std::string name, int PoolPolicy::*member, int minimum,
                     std::string description) {
  PolicySwitch result{{name, {}, std::move(description)}, nullptr, nullptr};
  result.get = [=](const PoolPolicy& policy) { return std::to_string(policy.*member); };
  result.set = [=](PoolPolicy& policy, const std::string& text) {
    const std::optional<double> number = parse_number(text);
    if (!number || std::floor(*number) != *number || *number < minimum ||
        *number > std::numeric_limits<int>::max()) {
      refuse(fmt::format("policy switch '{}' cannot be '{}'", name, text),
             fmt::format("write a whole number of at least {}", minimum));
    }
    policy.*member = static_cast<int>(*number);
  };
  return result;
}

std::vector<PolicySwitch> make_switches() {
  using P = PoolPolicy;
  return {
      choice("memory", &P::memory, {"first_touch", "prefault", "interleave"},
             "which nodes the shared segment lies on"),
      flag("buffers_by_node", &P::buffers_by_node,
           "each partition's descriptors and pages lie on its node"),
      integer("partitions", &P::partitions, 0,
              "partitions of the clock sweep: 0 = one a node with memory, 1 = not partitioned"),
      choice("balance", &P::balance, {"off", "per_allocation", "per_tick"},
             "how allocations are spread over the partitions"),
      flag("scan_all_partitions", &P::scan_all_partitions,
           "go on to the next partition when one is exhausted"),
      integer("home_refresh", &P::home_refresh, 1,
              "allocations between two looks at the CPU a backend runs on"),
      choice("usage", &P::usage, {"count", "second_chance", "hot_cool"},
             "what the sweep knows of a buffer's use"),
      choice("admission", &P::admission, {"referenced", "probation"},
             "whether a new page counts as used"),
      integer("bound", &P::bound, 0, "most chances one allocation spends; 0 = no bound"),
      flag("background_writer", &P::background_writer, "run a background writer"),
      flag("background_writer_spends", &P::background_writer_spends,
           "it spends chances ahead of the hand while allocations give up at the bound"),
      choice("batch", &P::batch, {"off", "auto", "force"},
             "claim a batch of ids from the hand at once; auto = with more than one node"),
      integer("batch_size", &P::batch_size, 1, "ids in a batch"),
      choice("cooling", &P::cooling, {"in_place", "prefer_cool"}, "the HOT/COOL stage's eviction"),
      flag("freelist", &P::freelist, "hand out never-used buffers before the sweep"),
      flag("rings", &P::rings, "bulk reads recycle a ring of buffers"),
      choice("mapping", &P::mapping, {"hash", "dense"}, "how a page's buffer is found"),
  };
}

const std::vector<PolicySwitch>& switches() {
  static const std::vector<PolicySwitch> all = make_switches();
  return all;
}

const PolicySwitch& find_switch(std::string_view name) {
  for (const PolicySwitch& candidate : switches()) {
    if (candidate.option.name == name) return candidate;
  }
  std::vector<std::string> known;
  for (const PolicySwitch& candidate : switches()) known.push_back(candidate.option.name);
  refuse(fmt::format("unknown policy switch '{}'", name), suggest(name, known));
}

void check_ranges(const PoolPolicy& policy) {
  PoolPolicy copy;
  for (const PolicySwitch& candidate : switches()) candidate.set(copy, candidate.get(policy));
}

void check_partitioned(const PoolPolicy& policy) {
  if (policy.partitions != 1) return;
  const auto needs_partitions = [](const std::string& what) {
    refuse(what + " needs a partitioned sweep, but partitions is 1",
           "set partitions to 0 (one a node), to 2 or more, or leave the other switch out");
  };
  if (policy.balance != PoolPolicy::Balance::kOff) {
    needs_partitions("balance: " + policy_option(policy, "balance"));
  }
  if (policy.scan_all_partitions) needs_partitions("scan_all_partitions");
}

}  // namespace

const std::vector<PolicyOption>& policy_options() {
  static const std::vector<PolicyOption> options = [] {
    std::vector<PolicyOption> result;
    for (const PolicySwitch& each : switches()) result.push_back(each.option);
    return result;
  }();
  return options;
}

void set_policy_option(PoolPolicy& policy, std::string_view name, const std::string& value) {
  find_switch(name).set(policy, value);
}

std::string policy_option(const PoolPolicy& policy, std::string_view name) {
  return find_switch(name).get(policy);
}

void check_policy(const PoolPolicy& policy) {
  check_ranges(policy);
  check_partitioned(policy);
  if (policy.cooling != PoolPolicy::Cooling::kInPlace &&
      policy.usage != PoolPolicy::Usage::kHotCool) {
    refuse("cooling: prefer_cool needs HOT and COOL buffers, but usage is " +
               policy_option(policy, "usage"),
           "set usage to hot_cool, or leave cooling out");
  }
  if (policy.background_writer_spends && !policy.background_writer) {
    refuse("background_writer_spends needs a background writer",
           "set background_writer to true, or leave background_writer_spends out");
  }
  if (policy.background_writer_spends && policy.bound == 0) {
    refuse("background_writer_spends waits for allocations that give up, but bound is 0",
           "set bound (the published series uses 128), or leave background_writer_spends out");
  }
}

}  // namespace numabench
