#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "hosts/doctor/check_list.h"
#include "hosts/files.h"
#include "hosts/units.h"

namespace numabench {
namespace {

constexpr const char* kCpus = "/sys/devices/system/cpu/";

/// Of all CPUs that have the file.
std::vector<FileSetting> of_each_cpu(const CheckList& list, const std::string& file,
                                     const std::string& value) {
  std::vector<FileSetting> settings;
  for (const int cpu : numbered_entries(list.view.root + kCpus, "cpu")) {
    const std::string path = fmt::format("{}cpu{}/{}", kCpus, cpu, file);
    if (list.read(path)) settings.push_back({path, value});
  }
  return settings;
}

void check_virtualisation(CheckList& list) {
  HostCheck& check = list.add_fact(
      "virtualisation", "none: bare metal",
      "a hypervisor shares CPUs, caches and memory bandwidth with others and hides where memory "
      "lies",
      "run on a bare-metal host (on EC2 an instance whose name ends in .metal)");
  if (check.reason.empty() && check.value != "none") check.rating = Rating::kRed;
}

void check_governor(CheckList& list) {
  HostCheck& check = list.add_fact(
      "governor", "performance", "other governors change the clock with the load, in mid-run",
      "numabench doctor --apply, or cpupower frequency-set -g performance");
  check.settings = of_each_cpu(list, "cpufreq/scaling_governor", check.wanted);
  if (check.reason.empty() && check.value != check.wanted) check.rating = Rating::kWarn;
}

/// Two drivers, two files, opposite senses.
std::vector<FileSetting> turbo_settings(const CheckList& list, bool on) {
  const std::string forbidden = std::string(kCpus) + "intel_pstate/no_turbo";
  if (list.read(forbidden)) return {{forbidden, on ? "0" : "1"}};
  return {{std::string(kCpus) + "cpufreq/boost", on ? "1" : "0"}};
}

void check_turbo(CheckList& list) {
  HostCheck& check = list.add_fact(
      "turbo", "off",
      "the clock rises with few busy cores and falls with heat: arms with fewer waiting clients "
      "run at another clock",
      "host_settings: {turbo: off} in the config and numabench doctor CONFIG --apply");
  if (!check.reason.empty()) return;
  check.settings = turbo_settings(list, check.wanted == "on");
  if (check.value != check.wanted) {
    check.rating = list.is_chosen("turbo") ? Rating::kWarn : Rating::kNote;
  }
}

void check_smt(CheckList& list) {
  HostCheck& check = list.add_fact(
      "smt", "off, or clients placed one a core",
      "two clients on one core have about 60 % of a core each: say how clients are placed",
      "host_settings: {smt: off} in the config and numabench doctor CONFIG --apply");
  if (check.reason.empty() && check.value == "on") check.rating = Rating::kNote;
  if (!list.is_chosen("smt")) return;
  check.settings = {{std::string(kCpus) + "smt/control", check.wanted}};
  if (check.value != check.wanted) check.rating = Rating::kWarn;
}

struct IdleStates {
  std::string deepest;               ///< the name of the slowest enabled one
  int latency_us = -1;               ///< of it
  std::vector<FileSetting> disable;  ///< all that take longer than the limit
};

IdleStates read_idle_states(const CheckList& list, int limit_us) {
  IdleStates states;
  for (const int cpu : numbered_entries(list.view.root + kCpus, "cpu")) {
    const std::string folder = fmt::format("{}cpu{}/cpuidle/", kCpus, cpu);
    for (const int state : numbered_entries(list.view.root + folder, "state")) {
      const std::string path = fmt::format("{}state{}/", folder, state);
      const auto latency =
          static_cast<int>(parse_number(list.read(path + "latency").value_or("")).value_or(0));
      if (latency > limit_us) states.disable.push_back({path + "disable", "1"});
      if (latency <= states.latency_us || list.read(path + "disable") != "0") continue;
      states.latency_us = latency;
      states.deepest = list.read(path + "name").value_or(fmt::format("state {}", state));
    }
  }
  return states;
}

void check_idle_states(CheckList& list) {
  constexpr int kLongestWakeUpUs = 20;  // of the order of a lock's hand-over or a pipe's
  HostCheck& check = list.add_fact(
      "idle driver",
      fmt::format("no state that takes longer than {} µs to leave", kLongestWakeUpUs),
      "a client that waited for a lock or an answer wakes on a core that first has to wake itself",
      "numabench doctor --apply, or cpupower idle-set -D 20");
  check.name = "idle states";
  if (!check.reason.empty() || check.value == "none") return;
  IdleStates states = read_idle_states(list, kLongestWakeUpUs);
  if (states.deepest.empty()) return;
  check.value = fmt::format("{} ({} µs)", states.deepest, states.latency_us);
  check.settings = std::move(states.disable);
  if (states.latency_us > kLongestWakeUpUs) check.rating = Rating::kWarn;
}

void check_clocksource(CheckList& list) {
  constexpr std::array<std::string_view, 2> kFast{"tsc", "arch_sys_counter"};
  constexpr std::array<std::string_view, 3> kFastInGuests{
      "kvm-clock", "hyperv_clocksource_tsc_page", "timebase"};
  HostCheck& check = list.add_fact(
      "clocksource", "tsc or arch_sys_counter",
      "other sources cost a system call, or a device read, for each time stamp: 20 times more, and "
      "pgbench takes two a transaction",
      "");
  const std::string available = list.view.snapshot.value("clocksources available");
  const bool has_tsc = (" " + available + " ").find(" tsc ") != std::string::npos;
  check.how = has_tsc ? "numabench doctor --apply"
                      : "boot with clocksource=tsc tsc=reliable, or another type of machine";
  if (has_tsc) {
    check.settings = {{"/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"}};
  }
  if (!check.reason.empty() || std::ranges::find(kFast, check.value) != kFast.end()) return;
  const bool fast_in_guests = std::ranges::find(kFastInGuests, check.value) != kFastInGuests.end();
  check.rating = fast_in_guests ? Rating::kNote : Rating::kRed;
}

}  // namespace

void check_processors(CheckList& list) {
  check_virtualisation(list);
  check_governor(list);
  check_turbo(list);
  check_smt(list);
  check_idle_states(list);
  check_clocksource(list);
}

}  // namespace numabench
