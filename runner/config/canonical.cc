#include "runner/config/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "hosts/units.h"
#include "runner/config/host_section.h"
#include "runner/config/load.h"
#include "runner/config/placement_section.h"
#include "runner/config/server_section.h"

namespace numabench {
namespace {

class CanonicalWriter {
 public:
  explicit CanonicalWriter(const Experiment& experiment) : experiment_(experiment) {}

  std::vector<CanonicalLine> write() {
    value("name", yaml_text(experiment_.name));
    value("notes", yaml_text(experiment_.notes));
    value("engine", yaml_text(experiment_.engine));
    value("baseline", yaml_text(experiment_.baseline));
    line("arms:");
    for (const Arm& arm : experiment_.arms) write_arm(arm);
    line("workloads:");
    for (const WorkloadConfig& workload : experiment_.workloads) write_workload(workload);
    line("placements:");
    for (const PlacementConfig& placement : experiment_.placements) write_placement(placement);
    write_server_section();
    write_host_section();
    write_pages_and_windows();
    line("cells:");
    for (std::size_t index = 0; index < experiment_.cells.size(); ++index) write_cell(index);
    return std::move(lines_);
  }

 private:
  void line(std::string text, std::vector<std::string> origins = {}) {
    lines_.push_back({std::move(text), std::move(origins)});
  }

  void value(const std::string& key, const std::string& text) { line(key + ": " + text, {key}); }

  void write_arm(const Arm& arm) {
    const std::string path = "arms." + arm.name;
    line("  - name: " + yaml_text(arm.name), {path});
    line("    description: " + yaml_text(arm.description), {path + ".description"});
    line("    policy:");
    for (const PolicyOption& option : policy_options()) {
      line(fmt::format("      {}: {}", option.name, policy_option(arm.policy, option.name)),
           {path + ".policy." + option.name});
    }
    write_sources(arm, path);
  }

  /// What an arm of a server has; nothing for a policy alone.
  void write_sources(const Arm& arm, const std::string& path) {
    if (arm.source.kind != ArmSource::Kind::kNone) {
      line("    source: " + source_text(arm.source), {path + ".source"});
    }
    if (!arm.patches.empty()) line("    patches:", {path + ".patches"});
    for (const std::string& patch : arm.patches) line("      - " + yaml_text(patch));
    if (!arm.series.empty()) {
      line(fmt::format("    series: {{of: {}, patches: {}}}", yaml_text(arm.series),
                       arm.patch_limit),
           {path + ".series"});
    }
    write_settings(arm.settings, path + ".settings", "    ");
    if (!arm.copy_of.empty()) line("    copy_of: " + yaml_text(arm.copy_of), {path});
  }

  static std::string source_text(const ArmSource& source) {
    const std::string location = yaml_text(source.location);
    switch (source.kind) {
      case ArmSource::Kind::kGit:
        return fmt::format("{{git: {}, commit: {}}}", location, yaml_text(source.commit));
      case ArmSource::Kind::kTarball:
        return fmt::format("{{tarball: {}}}", location);
      case ArmSource::Kind::kDebian:
        return fmt::format("{{debian: {}}}", location);
      case ArmSource::Kind::kBindir:
        return fmt::format("{{bindir: {}}}", location);
      case ArmSource::Kind::kNone:
        break;
    }
    return "{}";
  }

  void write_settings(const std::map<std::string, std::string>& settings, const std::string& path,
                      const std::string& indent) {
    if (settings.empty()) return;
    line(indent + "settings:");
    for (const auto& [name, text] : settings) {
      line(fmt::format("{}  {}: {}", indent, name, yaml_text(text)), {path + "." + name});
    }
  }

  void write_server_section() {
    line("build:");
    value_in("build", "system", to_string(experiment_.build.system));
    if (!experiment_.build.options.empty()) {
      std::vector<std::string> options;
      for (const std::string& option : experiment_.build.options) {
        options.push_back(yaml_text(option));
      }
      value_in("build", "options", fmt::format("[{}]", fmt::join(options, ", ")));
    }
    value_in("build", "cflags", yaml_text(experiment_.build.cflags));
    write_settings(experiment_.settings, "settings", "");
    if (!experiment_.server_user.empty()) value("server_user", yaml_text(experiment_.server_user));
    const PgbenchOptions& pgbench = experiment_.pgbench;
    line("pgbench:");
    if (!pgbench.program.empty()) value_in("pgbench", "program", yaml_text(pgbench.program));
    value_in("pgbench", "protocol", to_string(pgbench.protocol));
    value_in("pgbench", "jobs", std::to_string(pgbench.jobs));
    value_in("pgbench", "rate", format_exact(pgbench.rate));
    value_in("pgbench", "log_sampling", log_sampling_text(pgbench));
    value("counters", to_string(experiment_.counters));
    value("require_full_pool", experiment_.require_full_pool ? "true" : "false");
  }

  void write_host_section() {
    value("host_checks", to_string(experiment_.host_checks));
    if (!experiment_.host_settings.empty()) line("host_settings:");
    for (const auto& [name, text] : experiment_.host_settings) {
      const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
      value_in("host_settings", name, is_number ? text : yaml_text(text));
    }
  }

  void value_in(const std::string& section, const std::string& key, const std::string& text) {
    line(fmt::format("  {}: {}", key, text), {section + "." + key});
  }

  void write_workload(const WorkloadConfig& workload) {
    const std::string path = "workloads." + workload.label;
    line("  - name: " + yaml_text(workload.name), {path});
    line("    label: " + yaml_text(workload.label), {path});
    for (const ParameterSpec& spec : workload_parameters(workload.name)) {
      const std::string& text = workload.parameters.at(spec.name);
      const bool is_text = spec.type == ParameterSpec::Type::kText;
      line(fmt::format("    {}: {}", spec.name, is_text ? yaml_text(text) : text),
           {path + "." + spec.name});
    }
  }

  void write_placement(const PlacementConfig& placement) {
    const std::string path = "placements." + placement.name;
    const bool built_in = is_built_in_placement(placement.name);
    line((built_in ? "  - " : "  - name: ") + yaml_text(placement.name), {path});
    if (!built_in && !placement.refusal.empty()) {
      line("    refused: " + yaml_text(placement.refusal));
    }
    for (const auto& [role, where] : placement.roles) {
      const auto spread = placement.spreads.find(role);
      const bool dealt = spread != placement.spreads.end();
      line("    " + role + ": " + role_text(where, dealt ? spread->second : Spread::kNone),
           {path + "." + role});
    }
  }

  static std::string role_text(const Placement& role, Spread spread) {
    std::vector<std::string> options;
    if (!role.cpus.empty()) {
      options.push_back(fmt::format("physcpubind: \"{}\"", format_id_list(role.cpus)));
    }
    if (role.memory != MemoryPolicy::kDefault) {
      options.push_back(
          fmt::format("{}: {}", memory_key(role.memory),
                      role.memory == MemoryPolicy::kLocal
                          ? "true"
                          : fmt::format("\"{}\"", format_id_list(role.memory_nodes))));
    }
    if (role.balancing) options.emplace_back("balancing: true");
    if (role.touch) options.emplace_back("touch: true");
    if (spread != Spread::kNone) options.push_back("spread: " + to_string(spread));
    return fmt::format("{{{}}}", fmt::join(options, ", "));
  }

  void write_pages_and_windows() {
    const auto seconds = [](double amount) { return format_exact(amount) + "s"; };
    value("data_directory", yaml_text(experiment_.data_directory));
    value("huge_pages", to_string(experiment_.huge_pages));
    value("fill_cycles", std::to_string(experiment_.fill_cycles));
    value("runs", std::to_string(experiment_.runs));
    write_measure_section();
    value("warmup", experiment_.warmup.text());
    if (experiment_.warmup.unit != Span::Unit::kSeconds) {
      value("warmup_limit", seconds(experiment_.warmup_limit_seconds));
    }
    value("duration", experiment_.duration.text());
    if (experiment_.duration.unit != Span::Unit::kSeconds) {
      value("duration_limit", seconds(experiment_.duration_limit_seconds));
    }
    value("seed", std::to_string(experiment_.seed));
    if (experiment_.smoke) value("smoke", "true");
    if (experiment_.scale != 1) value("scale", format_exact(experiment_.scale));
  }

  void write_measure_section() {
    const auto boolean = [](bool flag) { return flag ? "true" : "false"; };
    value("order", to_string(experiment_.order));
    if (experiment_.pairs_abba) value("pairs", "ABBA");
    value("drift_control", boolean(experiment_.drift_control));
    line("monitors:");
    value_in("monitors", "host", boolean(experiment_.monitors.host));
    value_in("monitors", "pss", boolean(experiment_.monitors.pss));
    value_in("monitors", "perf", boolean(experiment_.monitors.perf));
    if (!experiment_.voids.empty()) line("void:");
    for (const auto& [rule, setting] : experiment_.voids) {
      value_in("void", rule, to_string(setting));
    }
  }

  void write_cell(std::size_t index) {
    const FactorSet& cell = experiment_.cells[index];
    const std::string path = fmt::format("cells.{}.", index);
    const std::string held =
        cell.working_set_bytes == 0
            ? ""
            : fmt::format(", working_set: {}", exact_bytes(cell.working_set_bytes));
    line(fmt::format("  - {{arm: {}, workload: {}, regime: {}, placement: {}, pool: {}, ratio: {}, "
                     "clients: {}{}}}",
                     yaml_text(cell.arm), yaml_text(cell.workload), to_string(cell.regime),
                     yaml_text(cell.placement), exact_bytes(cell.pool_bytes),
                     format_exact(cell.ratio), cell.clients, held),
         {path + "regime", path + "pool", path + "ratio", path + "clients"});
  }

  const Experiment& experiment_;
  std::vector<CanonicalLine> lines_;
};

/// A word that no YAML reader takes for anything but text.
bool is_plain(const std::string& text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view kOthers = "0123456789._/+-";
  if (text.empty() || kLetters.find(text.front()) == std::string_view::npos) return false;
  const bool plain_characters = std::all_of(text.begin(), text.end(), [&](char c) {
    return kLetters.find(c) != std::string_view::npos || kOthers.find(c) != std::string_view::npos;
  });
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const char* word : {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}) {
    if (lower == word) return false;
  }
  return plain_characters;
}

std::string escaped(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string origin_comment(const LoadedExperiment& loaded, const CanonicalLine& line) {
  std::vector<std::string> parts;
  for (const std::string& path : line.origins) {
    const auto found = loaded.origins.find(path);
    const Origin origin = found == loaded.origins.end() ? Origin{} : found->second;
    std::string part = origin.text();
    if (!origin.expression.empty()) part += " (" + origin.expression + ")";
    if (line.origins.size() > 1) part = path.substr(path.rfind('.') + 1) + " " + part;
    parts.push_back(std::move(part));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Comments stand in one column, behind all but the longest lines.
std::string commented(const LoadedExperiment& loaded, std::span<const CanonicalLine> lines) {
  constexpr std::size_t kWidestAligned = 100;  // a line of cells
  constexpr std::size_t kNarrow = 60;          // beside it, descriptions may stick out
  std::size_t width = 0;
  for (const CanonicalLine& line : lines) width = std::max(width, line.text.size());
  if (width > kWidestAligned) width = kNarrow;
  std::string text;
  for (const CanonicalLine& line : lines) {
    const std::string comment = origin_comment(loaded, line);
    text += comment.empty() ? line.text + "\n"
                            : fmt::format("{:<{}}  # {}\n", line.text, width, comment);
  }
  return text;
}

}  // namespace

std::vector<CanonicalLine> canonical_lines(const Experiment& experiment) {
  return CanonicalWriter(experiment).write();
}

std::string yaml_text(const std::string& text) { return is_plain(text) ? text : escaped(text); }

std::string exact_bytes(std::uint64_t bytes) {
  int unit = 0;
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  for (; unit < 4 && bytes > 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

std::string to_canonical_yaml(const Experiment& experiment) {
  std::string text;
  for (const CanonicalLine& line : canonical_lines(experiment)) text += line.text + "\n";
  return text;
}

std::string show_config(const LoadedExperiment& loaded) {
  const std::vector<CanonicalLine> lines = canonical_lines(loaded.experiment);
  const auto cells = std::find_if(lines.begin(), lines.end(),
                                  [](const CanonicalLine& line) { return line.text == "cells:"; });
  return commented(loaded, {lines.begin(), cells}) + commented(loaded, {cells, lines.end()});
}

}  // namespace numabench
