#include "runner/config/load.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "hosts/spelling.h"
#include "runner/config/arms.h"
#include "runner/config/baseline_copy.h"
#include "runner/config/cells.h"
#include "runner/config/definitions.h"
#include "runner/config/factor_blocks.h"
#include "runner/config/factors.h"
#include "runner/config/host_scale.h"
#include "runner/config/host_section.h"
#include "runner/config/measure_section.h"
#include "runner/config/overrides.h"
#include "runner/config/placement_section.h"
#include "runner/config/server_section.h"
#include "runner/config/workload_section.h"
#include "runner/config/yaml_reader.h"
#include "runner/config/yaml_tree.h"

namespace numabench {
namespace {

constexpr std::uint64_t kSmokePoolBytes = 8u << 20;
constexpr int kSmokeClients = 4;
constexpr double kSmokeSeconds = 1;
constexpr double kLapsLimitSeconds = 60;
constexpr double kSteadyLimitSeconds = 120;

/// Keys that make the cells, which `cells` would contradict.
const std::vector<std::string> kCellKeys{"aa",     "hold",    "regimes", "pools", "working_sets",
                                         "ratios", "clients", "matrix",  "zip",   "exclude"};

std::vector<std::string> experiment_keys() {
  std::vector<std::string> keys{"name",         "notes",          "engine",         "baseline",
                                "arms",         "workloads",      "placements",     "huge_pages",
                                "fill_cycles",  "data_directory", "runs",           "warmup",
                                "warmup_limit", "duration",       "duration_limit", "seed",
                                "smoke",        "scale",          "cells"};
  keys.insert(keys.end(), server_keys().begin(), server_keys().end());
  keys.insert(keys.end(), measure_keys().begin(), measure_keys().end());
  keys.insert(keys.end(), host_keys().begin(), host_keys().end());
  keys.insert(keys.end(), kCellKeys.begin(), kCellKeys.end());
  return keys;
}

class ExperimentLoader {
 public:
  ExperimentLoader(const YamlNode& root, const std::filesystem::path& directory,
                   const Topology& topology, const ConfigOverrides& overrides)
      : root_(root),
        directory_(directory),
        topology_(topology),
        overrides_(overrides),
        resolver_((directory / "arms").string(), inline_arms(root)),
        arms_("arm", read_arm_name, [this](const YamlNode& item) { return define_arms(item); }),
        workloads_("workload", workload_label,
                   [this](const YamlNode& item) {
                     experiment_.workloads.push_back(read_workload(item, origins_));
                     return std::vector{experiment_.workloads.back().label};
                   }),
        placements_("placement", placement_name, [this](const YamlNode& item) {
          experiment_.placements.push_back(read_placement(item, topology_, is_stored(), origins_));
          return std::vector{experiment_.placements.back().name};
        }) {}

  LoadedExperiment load(std::string source_text) {
    check_map(root_, "the experiment", experiment_keys());
    read_identity();
    read_memory();
    read_server_section(root_, experiment_, origins_);
    read_host_section(root_, directory_.string(),
                      overrides_.smoke           ? "--smoke"
                      : overrides_.scale_to_host ? "--scale-to-host"
                                                 : "",
                      experiment_, origins_);
    read_windows();
    read_repetition();
    read_measure_section(root_, experiment_, origins_);
    if (value("cells") != nullptr) {
      take_explicit_cells();
    } else {
      multiply_factors();
    }
    read_baseline();
    if (overrides_.smoke) shrink_windows();
    if (!is_stored() && wants_baseline_copy(value("aa"), experiment_)) {
      add_baseline_copy(experiment_, origins_);
    }
    return {std::move(experiment_), std::move(source_text), std::move(origins_)};
  }

 private:
  static std::string read_arm_name(const YamlNode& item) {
    return item.is_map() ? read_name(need(item, "name", "the arm"), "'name'")
                         : read_name(item, "an arm");
  }

  std::vector<std::string> define_arms(const YamlNode& item) {
    std::vector<std::string> names;
    for (Arm& arm : resolver_.resolve(item, patch_files(), origins_)) {
      names.push_back(arm.name);
      experiment_.arms.push_back(std::move(arm));
    }
    return names;
  }

  /// The embedded engine runs an arm's policy, so that its patches need not be there.
  PatchFiles patch_files() const {
    if (experiment_.engine == "embedded") return PatchFiles::kIgnore;
    return is_stored() ? PatchFiles::kKeep : PatchFiles::kExpand;
  }

  /// In its canonical form, which lists its cells.
  bool is_stored() const { return root_.find("cells") != nullptr; }

  /// Every map in a list of arms, since any of them may be extended by any other.
  static std::vector<const YamlNode*> inline_arms(const YamlNode& root) {
    std::vector<const YamlNode*> found;
    const auto collect = [&](const YamlNode* arms) {
      if (arms == nullptr) return;
      if (arms->is_map()) found.push_back(arms);
      for (const YamlNode& item : arms->items) {
        if (item.is_map()) found.push_back(&item);
      }
    };
    collect(root.find("arms"));
    if (const YamlNode* matrix = root.find("matrix")) {
      for (const YamlNode& block : matrix->items) collect(block.find("arms"));
    }
    return found;
  }

  /// The value of a key, whose origin is recorded either way.
  const YamlNode* value(const std::string& key) {
    const YamlNode* node = root_.find(key);
    origins_[key] = node == nullptr ? Origin{} : node->origin;
    return node;
  }

  void read_identity() {
    need(root_, "name", "the experiment");
    experiment_.name = read_name(*value("name"), "'name'");
    if (const YamlNode* node = value("notes")) experiment_.notes = read_text(*node, "'notes'");
    if (const YamlNode* node = value("engine")) experiment_.engine = read_name(*node, "'engine'");
  }

  void read_memory() {
    if (const YamlNode* node = value("data_directory")) {
      experiment_.data_directory = read_text(*node, "'data_directory'");
    }
    if (const YamlNode* node = value("huge_pages")) {
      experiment_.huge_pages = static_cast<SharedRegion::HugePages>(
          read_choice(*node, "'huge_pages'", {"off", "try", "on"}));
    }
    if (const YamlNode* node = value("fill_cycles")) {
      experiment_.fill_cycles = read_integer(*node, "'fill_cycles'", 0);
    }
  }

  void read_windows() {
    if (const YamlNode* node = value("warmup")) experiment_.warmup = read_span(*node, "'warmup'");
    if (const YamlNode* node = value("duration")) {
      experiment_.duration = read_span(*node, "'duration'");
      if (experiment_.duration.unit == Span::Unit::kSteady) {
        config_error(node->origin, "'duration' cannot be 'steady': a window does not end by itself",
                     "write a time or laps; 'steady' is for 'warmup'");
      }
      if (experiment_.duration.amount <= 0) {
        config_error(node->origin, "'duration' is zero: nothing would be measured",
                     "write a time or laps above zero");
      }
    }
    experiment_.warmup_limit_seconds = read_limit("warmup_limit", experiment_.warmup);
    experiment_.duration_limit_seconds = read_limit("duration_limit", experiment_.duration);
  }

  /// 0 beside a span in seconds, which has its end in itself.
  double read_limit(const std::string& key, const Span& span) {
    const YamlNode* node = value(key);
    const double usual = span.unit == Span::Unit::kSteady ? kSteadyLimitSeconds : kLapsLimitSeconds;
    const double limit = node == nullptr ? usual : read_seconds(*node, quoted(key));
    return span.unit == Span::Unit::kSeconds ? 0 : limit;
  }

  void read_repetition() {
    if (const YamlNode* node = value("runs")) experiment_.runs = read_integer(*node, "'runs'", 1);
    if (const YamlNode* node = value("seed")) experiment_.seed = read_seed(*node, "'seed'");
    if (overrides_.runs) {
      if (*overrides_.runs < 1) {
        config_error({"--runs", 0, 0, ""}, "not a number of runs", "give at least 1");
      }
      experiment_.runs = *overrides_.runs;
      origins_["runs"] = {"--runs", 0, 0, ""};
    }
    if (overrides_.seed) {
      experiment_.seed = *overrides_.seed;
      origins_["seed"] = {"--seed", 0, 0, ""};
    }
  }

  /// The embedded engine measures bookkeeping unless asked for more; a server always reads.
  Regime usual_regime() const {
    return experiment_.engine == "embedded" ? Regime::kNone : Regime::kPageCache;
  }

  /// Of cells that would be `cells` as they are written.
  CellLimits cell_limits(const std::vector<FactorSet>& cells) {
    CellLimits limits;
    if (overrides_.scale_to_host) {
      experiment_.scale *= scale_to_host(cells, topology_);
      limits.scale = experiment_.scale;
      limits.clients = most_clients(topology_);
      limits.source = "--scale-to-host";
      origins_["scale"] = {limits.source, 0, 0, ""};
    }
    if (overrides_.smoke) {
      limits.pool_bytes = kSmokePoolBytes;
      limits.clients = kSmokeClients;
      limits.source = "--smoke";
    }
    return limits;
  }

  void take_explicit_cells() {
    for (const std::string& key : kCellKeys) {
      if (const YamlNode* node = root_.find(key)) {
        config_error(node->origin, "'" + key + "' stands beside 'cells', which lists every cell",
                     "keep one of them");
      }
    }
    if (const YamlNode* node = value("smoke")) experiment_.smoke = read_boolean(*node, "'smoke'");
    if (const YamlNode* node = value("scale")) experiment_.scale = read_number(*node, "'scale'");
    arms_.read(need(root_, "arms", "the experiment"));
    workloads_.read(need(root_, "workloads", "the experiment"));
    placements_.read(need(root_, "placements", "the experiment"));
    const YamlNode& cells = *root_.find("cells");
    const CellList written = read_cells(cells, experiment_, topology_, {});
    keep(read_cells(cells, experiment_, topology_, cell_limits(written.cells)));
  }

  void multiply_factors() {
    for (const std::string key : {"smoke", "scale"}) {
      if (const YamlNode* node = root_.find(key)) {
        config_error(node->origin, quoted(key) + " is written by numabench beside 'cells' only",
                     "leave it out and use --smoke or --scale-to-host");
      }
    }
    const Hold hold = read_hold(root_);
    const std::vector<FactorLists> blocks =
        read_blocks(root_, hold, usual_regime(), {arms_, workloads_, placements_}, topology_);
    std::vector<Zip> zips;
    std::vector<Exclusion> exclusions;
    if (const YamlNode* node = root_.find("zip")) zips = read_zips(*node, hold);
    if (const YamlNode* node = root_.find("exclude")) {
      exclusions = read_exclusions(*node, hold, experiment_, topology_);
    }
    const CellList written = expand_cells(blocks, zips, exclusions, hold, {});
    keep(expand_cells(blocks, zips, exclusions, hold, cell_limits(written.cells)));
  }

  void keep(CellList list) {
    experiment_.cells = std::move(list.cells);
    origins_.merge(list.origins);
  }

  /// Percentages are of the baseline, so it has to have cells.
  void read_baseline() {
    std::vector<std::string> arms;
    for (const Arm& arm : experiment_.arms) {
      const bool has_cells =
          std::any_of(experiment_.cells.begin(), experiment_.cells.end(),
                      [&](const FactorSet& cell) { return cell.arm == arm.name; });
      if (has_cells) arms.push_back(arm.name);
    }
    experiment_.baseline = arms.front();
    const YamlNode* node = value("baseline");
    if (node == nullptr) return;
    experiment_.baseline = read_name(*node, "'baseline'");
    if (std::find(arms.begin(), arms.end(), experiment_.baseline) != arms.end()) return;
    config_error(node->origin, "'baseline' is '" + experiment_.baseline + "', an arm without cells",
                 suggest(experiment_.baseline, arms));
  }

  void shrink_windows() {
    const Origin smoke{"--smoke", 0, 0, ""};
    const Span window{kSmokeSeconds, Span::Unit::kSeconds};
    experiment_.smoke = true;
    experiment_.drift_control = false;
    origins_["drift_control"] = smoke;
    experiment_.duration = window;
    experiment_.duration_limit_seconds = 0;
    origins_["duration"] = smoke;
    const Span& warmup = experiment_.warmup;
    if (warmup.unit != Span::Unit::kSeconds || warmup.amount > kSmokeSeconds) {
      experiment_.warmup = window;
      experiment_.warmup_limit_seconds = 0;
      origins_["warmup"] = smoke;
    }
    if (!overrides_.runs) {
      experiment_.runs = 1;
      origins_["runs"] = smoke;
    }
  }

  const YamlNode& root_;
  const std::filesystem::path directory_;  ///< of the config
  const Topology& topology_;
  const ConfigOverrides& overrides_;
  Experiment experiment_;
  std::map<std::string, Origin> origins_;
  ArmResolver resolver_;
  Definitions arms_;
  Definitions workloads_;
  Definitions placements_;
};

}  // namespace

LoadedExperiment load_experiment(const std::string& path, const Topology& topology,
                                 const ConfigOverrides& overrides) {
  return load_experiment_text(read_config_file(path), path, topology, overrides);
}

LoadedExperiment load_experiment_text(const std::string& text, const std::string& name,
                                      const Topology& topology, const ConfigOverrides& overrides) {
  YamlNode root = parse_yaml_file_text(text, name);
  for (const std::string& assignment : overrides.sets) apply_set(root, assignment);
  return ExperimentLoader(root, std::filesystem::path(name).parent_path(), topology, overrides)
      .load(text);
}

}  // namespace numabench
