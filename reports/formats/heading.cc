#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "hosts/units.h"
#include "reports/formats/grid.h"
#include "reports/formats/judgement_text.h"
#include "reports/formats/text_width.h"

namespace numabench {
namespace {

constexpr std::size_t kLineLimit = 200;

struct ShownFact {
  const char* fact;   ///< its name in the snapshot
  const char* label;  ///< before the value; empty when that speaks for itself
};

/// What a reader asks for first. Everything else is in the store.
constexpr std::array kMachine = {ShownFact{"cpu model", ""},
                                 ShownFact{"cpus online", "CPUs "},
                                 ShownFact{"memory nodes allowed", "memory nodes "},
                                 ShownFact{"memory total", ""},
                                 ShownFact{"kernel", "kernel "},
                                 ShownFact{"virtualisation", "virtualisation "}};
constexpr std::array kTuning = {ShownFact{"numa balancing", "numa balancing "},
                                ShownFact{"transparent huge pages", "transparent huge pages "},
                                ShownFact{"governor", "governor "},
                                ShownFact{"clocksource", "clocksource "}};

/// /proc/meminfo writes "kB" and means 1024 bytes.
std::string readable(const std::string& value) {
  constexpr std::string_view kKernelUnit = " kB";
  if (!value.ends_with(kKernelUnit)) return value;
  const auto number = parse_number(value.substr(0, value.size() - kKernelUnit.size()));
  return number ? format_bytes(*number * 1024) : value;
}

/// The facts that the snapshot has, joined.
std::string describe_facts(const HostRecord& host, std::span<const ShownFact> shown) {
  const auto snapshot = nlohmann::json::parse(host.snapshot_json, nullptr, false);
  if (!snapshot.is_object() || !snapshot.contains("facts")) return "";
  std::vector<std::string> parts;
  for (const ShownFact& fact : shown) {
    const auto value = snapshot["facts"].find(fact.fact);
    if (value == snapshot["facts"].end() || !value->is_string()) continue;
    parts.push_back(fact.label + readable(value->get<std::string>()));
  }
  return fmt::format("{}", fmt::join(parts, " · "));
}

std::string describe_host(const HostRecord& host) {
  const std::string facts = describe_facts(host, kMachine);
  return facts.empty() ? host.hostname : host.hostname + " · " + facts;
}

std::string describe_experiment(const ExperimentRecord& experiment) {
  std::string text =
      fmt::format("{} · id {} · {} · engine {} · seed {} · {} run{} a cell", experiment.name,
                  experiment.id, experiment.started_at, experiment.engine, experiment.seed,
                  experiment.runs_per_cell, experiment.runs_per_cell == 1 ? "" : "s");
  if (experiment.scale != 1) {
    text += fmt::format(" · scaled to {:.2g} of the sizes written", experiment.scale);
  }
  return text;
}

/// A miss that copies memory and a miss that reads a device answer different questions.
std::string describe_regime(const std::string& regime) {
  if (regime == "none") return "none: descriptors and mapping only, a miss moves no data";
  if (regime == "resident") return "resident: the working set fits into the pool";
  if (regime == "page-cache") return "page-cache: a miss copies 8 KiB from memory outside the pool";
  if (regime == "real-io") return "real-io: a miss reads the device";
  return regime;
}

std::string describe_regimes(const Comparison& comparison) {
  std::vector<std::string> regimes;
  for (const ComparisonTable& table : comparison.tables) {
    const std::string regime = describe_regime(table.rows.front().cell.regime);
    if (std::find(regimes.begin(), regimes.end(), regime) == regimes.end()) {
      regimes.push_back(regime);
    }
  }
  return fmt::format("{}", fmt::join(regimes, " · "));
}

}  // namespace

std::vector<HeadingLine> heading_lines(const Comparison& comparison) {
  std::vector<HeadingLine> lines;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) lines.push_back({name, one_line(text, kLineLimit)});
  };
  if (comparison.before) add("before", describe_experiment(*comparison.before));
  add(comparison.before ? "after" : "experiment", describe_experiment(comparison.experiment));
  add("host", describe_host(comparison.host));
  add("tuning", describe_facts(comparison.host, kTuning));
  add("software", comparison.experiment.software);
  add("regime", describe_regimes(comparison));
  for (const MetricNoise& noise : comparison.noise) {
    if (std::ranges::count(comparison.judged_metrics, noise.metric) > 0) {
      add("noise", noise_text(noise));
    }
  }
  add("verdicts", verdicts_text(comparison));
  for (const std::string& note : comparison.notes) add("note", note);
  return lines;
}

}  // namespace numabench
