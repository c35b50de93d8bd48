#include "runner/config/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "hosts/spelling.h"
#include "hosts/units.h"
#include "runner/config/yaml_reader.h"
#include "workloads/dataset.h"

namespace numabench {
namespace {

constexpr std::uint64_t kSmallestPool = 16;  // pages; PostgreSQL's

/// Of an expanded cell; beside the factors.
constexpr const char* kHeldKey = "working_set";

/// More than anybody can wait for; ends a product that somebody did not mean.
constexpr double kMostCells = 100'000;

using Indexes = std::array<std::size_t, kFactors>;

/// A cell with the origins of its numbers.
struct Candidate {
  FactorSet cell;
  std::uint64_t size_bytes = 0;  ///< as listed: of the pool or of the working set
  Origin regime, pool, ratio, clients;
};

/// Shrinks, drops duplicates and keeps the origins in step with the cells.
class CellCollector {
 public:
  explicit CellCollector(const CellLimits& limits) : limits_(limits) {}

  void add(Candidate candidate) {
    FactorSet& cell = candidate.cell;
    scale(cell, candidate.pool);
    // Pools cut to the same size do not share a working set.
    if (shrink(cell.pool_bytes, limits_.pool_bytes, candidate.pool)) cell.working_set_bytes = 0;
    shrink(cell.clients, limits_.clients, candidate.clients);
    if (!seen_.insert(key_of(cell)).second) return;
    const std::string path = fmt::format("cells.{}.", list_.cells.size());
    list_.origins[path + "regime"] = candidate.regime;
    list_.origins[path + "pool"] = candidate.pool;
    list_.origins[path + "ratio"] = candidate.ratio;
    list_.origins[path + "clients"] = candidate.clients;
    list_.cells.push_back(cell);
  }

  CellList take() { return std::move(list_); }

 private:
  using Key = std::tuple<std::string, std::string, Regime, std::string, std::uint64_t, double, int,
                         std::uint64_t>;

  static Key key_of(const FactorSet& cell) {
    return {cell.arm,        cell.workload, cell.regime,  cell.placement,
            cell.pool_bytes, cell.ratio,    cell.clients, cell.working_set_bytes};
  }

  /// To whole pages, at least the smallest pool that there can be.
  void scale(FactorSet& cell, Origin& origin) const {
    if (limits_.scale >= 1) return;
    origin = {limits_.source, 0, 0,
              fmt::format("{} × {:.3g}", format_bytes(static_cast<double>(cell.pool_bytes)),
                          limits_.scale)};
    cell.pool_bytes = std::max(scaled_pages(cell.pool_bytes), kSmallestPool) * kPageBytes;
    cell.working_set_bytes = scaled_pages(cell.working_set_bytes) * kPageBytes;
  }

  std::uint64_t scaled_pages(std::uint64_t bytes) const {
    const std::uint64_t written_pages = bytes / kPageBytes;
    return static_cast<std::uint64_t>(static_cast<double>(written_pages) * limits_.scale);
  }

  /// Whether it had to.
  template <typename T>
  bool shrink(T& value, T limit, Origin& origin) const {
    if (value <= limit) return false;
    value = limit;
    origin = {limits_.source, 0, 0, ""};
    return true;
  }

  const CellLimits& limits_;
  std::set<Key> seen_;
  CellList list_;
};

void check_equal_lengths(const Zip& zip, const FactorLists& lists, Hold hold) {
  const Indexes lengths = lists.lengths();
  const std::size_t first = zip.factors.front();
  for (const std::size_t other : zip.factors) {
    if (lengths[other] == lengths[first]) continue;
    config_error(
        zip.origin,
        fmt::format("zip of unequal lists: '{}' has {} ({}), '{}' has {} ({})",
                    factor_list_name(first, hold), lengths[first], lists.places[first].text(),
                    factor_list_name(other, hold), lengths[other], lists.places[other].text()),
        "give them the same number of values");
  }
}

/// Groups of factors that vary together, in the order of each group's first factor.
std::vector<std::vector<std::size_t>> axes_of(const std::vector<Zip>& zips) {
  std::vector<std::vector<std::size_t>> axes;
  std::set<std::size_t> placed;
  for (std::size_t factor = 0; factor < kFactors; ++factor) {
    if (placed.contains(factor)) continue;
    std::vector<std::size_t> axis{factor};
    for (const Zip& zip : zips) {
      const auto& zipped = zip.factors;
      if (std::find(zipped.begin(), zipped.end(), factor) != zipped.end()) axis = zipped;
    }
    placed.insert(axis.begin(), axis.end());
    axes.push_back(std::move(axis));
  }
  return axes;
}

/// Counts through the axes, the last fastest; false after the last combination.
bool advance(Indexes& at, const Indexes& lengths,
             const std::vector<std::vector<std::size_t>>& axes) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    const bool wraps = at[axis->front()] + 1 == lengths[axis->front()];
    for (const std::size_t factor : *axis) at[factor] = wraps ? 0 : at[factor] + 1;
    if (!wraps) return true;
  }
  return false;
}

void check_count(const Indexes& lengths, const std::vector<std::vector<std::size_t>>& axes,
                 const Origin& where) {
  double cells = 1;
  for (const auto& axis : axes) cells *= static_cast<double>(lengths[axis.front()]);
  if (cells > kMostCells) {
    config_error(where, fmt::format("the factors multiply to {:.0f} cells", cells),
                 fmt::format("list fewer values: at most {:.0f} cells", kMostCells));
  }
}

/// The working set is `ratio` times the pool, whichever of the two was listed.
std::uint64_t pool_bytes(const Placed<std::uint64_t>& size, double ratio, Hold hold) {
  const auto bytes = static_cast<double>(size.value);
  if (hold == Hold::kPool) return whole_pool(bytes, size.origin);
  const double pages = std::round(bytes / ratio / static_cast<double>(kPageBytes));
  return whole_pool(pages * static_cast<double>(kPageBytes), size.origin);
}

/// A working set that is listed, in whole pages.
std::uint64_t held_bytes(const Placed<std::uint64_t>& size) {
  const std::uint64_t pages = size.value / kPageBytes;
  if (pages == 0) {
    config_error(size.origin, "a working set of less than a page",
                 fmt::format("write at least {} bytes", kPageBytes));
  }
  return pages * kPageBytes;
}

Candidate candidate_at(const Indexes& at, const FactorLists& lists, Hold hold) {
  const auto& size = lists.sizes[at[kSize]];
  const auto& ratio = lists.ratios[at[kRatio]];
  const auto& clients = lists.clients[at[kClients]];
  Candidate candidate;
  candidate.size_bytes = size.value;
  candidate.cell.arm = lists.arms[at[kArm]].value;
  candidate.cell.workload = lists.workloads[at[kWorkload]].value;
  candidate.cell.regime = lists.regimes[at[kRegime]].value;
  candidate.cell.placement = lists.placements[at[kPlacement]].value;
  candidate.cell.pool_bytes = pool_bytes(size, ratio.value, hold);
  candidate.cell.ratio = ratio.value;
  candidate.cell.clients = clients.value;
  if (hold == Hold::kWorkingSet) candidate.cell.working_set_bytes = held_bytes(size);
  candidate.regime = lists.regimes[at[kRegime]].origin;
  candidate.pool = size.origin;
  candidate.ratio = ratio.origin;
  candidate.clients = clients.origin;
  return candidate;
}

template <typename T>
bool agrees(const std::vector<T>& wanted, const T& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool matches(const Exclusion& exclusion, const Candidate& candidate) {
  const FactorSet& cell = candidate.cell;
  return agrees(exclusion.names[kArm], cell.arm) &&
         agrees(exclusion.names[kWorkload], cell.workload) &&
         agrees(exclusion.names[kRegime], to_string(cell.regime)) &&
         agrees(exclusion.names[kPlacement], cell.placement) &&
         agrees(exclusion.numbers[kSize], static_cast<double>(candidate.size_bytes)) &&
         agrees(exclusion.numbers[kRatio], cell.ratio) &&
         agrees(exclusion.numbers[kClients], static_cast<double>(cell.clients));
}

std::vector<std::string> known_names(std::size_t factor, const Experiment& experiment) {
  std::vector<std::string> names;
  if (factor == kArm) {
    for (const Arm& arm : experiment.arms) names.push_back(arm.name);
  } else if (factor == kWorkload) {
    for (const WorkloadConfig& workload : experiment.workloads) names.push_back(workload.label);
  } else {
    for (const PlacementConfig& placement : experiment.placements) names.push_back(placement.name);
  }
  return names;
}

std::string read_known_name(const YamlNode& node, std::size_t factor,
                            const Experiment& experiment) {
  const std::string what = factor_name(factor, Hold::kPool);
  const std::vector<std::string> known = known_names(factor, experiment);
  const std::string name = read_name(node, quoted(what));
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    config_error(node.origin, fmt::format("no {} '{}' in this experiment", what, name),
                 suggest(name, known));
  }
  return name;
}

double read_factor_number(const YamlNode& node, std::size_t factor, Hold hold,
                          const Topology& topology) {
  if (factor == kRatio) return read_ratio(node).value;
  if (factor == kClients) return read_clients(node, topology).value;
  return static_cast<double>(read_size(node, factor_name(kSize, hold), topology).value);
}

}  // namespace

std::vector<Zip> read_zips(const YamlNode& node, Hold hold) {
  const std::vector<std::string> known = factor_list_names(hold);
  std::set<std::size_t> zipped;
  std::vector<Zip> zips;
  for (const YamlNode* group : read_list(node, "'zip'")) {
    Zip zip;
    zip.origin = group->origin;
    for (const YamlNode* name : read_list(*group, "each entry of 'zip'")) {
      const std::size_t factor = read_choice(*name, "a factor of 'zip'", known);
      if (!zipped.insert(factor).second) {
        config_error(name->origin, fmt::format("'{}' is zipped twice", known[factor]),
                     "name it once");
      }
      zip.factors.push_back(factor);
    }
    zips.push_back(std::move(zip));
  }
  return zips;
}

std::vector<Exclusion> read_exclusions(const YamlNode& node, Hold hold,
                                       const Experiment& experiment, const Topology& topology) {
  std::vector<std::string> known;
  for (std::size_t factor = 0; factor < kFactors; ++factor) {
    known.push_back(factor_name(factor, hold));
  }
  std::vector<Exclusion> exclusions;
  for (const YamlNode* item : read_list(node, "'exclude'")) {
    check_map(*item, "'exclude'", known);
    Exclusion exclusion;
    exclusion.origin = item->origin;
    for (std::size_t factor = 0; factor < kFactors; ++factor) {
      const YamlNode* values = item->find(known[factor]);
      if (values == nullptr) continue;
      for (const YamlNode* value : read_list_or_one(*values, quoted(known[factor]))) {
        if (factor == kArm || factor == kWorkload || factor == kPlacement) {
          exclusion.names[factor].push_back(read_known_name(*value, factor, experiment));
        } else if (factor == kRegime) {
          exclusion.names[factor].push_back(to_string(read_regime(*value).value));
        } else {
          exclusion.numbers[factor].push_back(read_factor_number(*value, factor, hold, topology));
        }
      }
    }
    exclusions.push_back(std::move(exclusion));
  }
  return exclusions;
}

CellList expand_cells(const std::vector<FactorLists>& blocks, const std::vector<Zip>& zips,
                      const std::vector<Exclusion>& exclusions, Hold hold,
                      const CellLimits& limits) {
  const auto axes = axes_of(zips);
  std::vector<bool> used(exclusions.size(), false);
  CellCollector collector(limits);
  for (const FactorLists& lists : blocks) {
    for (const Zip& zip : zips) check_equal_lengths(zip, lists, hold);
    const Indexes lengths = lists.lengths();
    check_count(lengths, axes, lists.places[kArm]);
    Indexes at{};
    do {
      const Candidate candidate = candidate_at(at, lists, hold);
      bool excluded = false;
      for (std::size_t index = 0; index < exclusions.size(); ++index) {
        if (!matches(exclusions[index], candidate)) continue;
        excluded = used[index] = true;
      }
      if (!excluded) collector.add(candidate);
    } while (advance(at, lengths, axes));
  }
  for (std::size_t index = 0; index < exclusions.size(); ++index) {
    if (used[index]) continue;
    config_error(exclusions[index].origin, "this exclusion matches no cell",
                 "correct its values, or leave it out");
  }
  CellList result = collector.take();
  if (result.cells.empty()) {
    config_error(exclusions.front().origin, "every cell is excluded", "exclude fewer");
  }
  return result;
}

CellList read_cells(const YamlNode& node, const Experiment& experiment, const Topology& topology,
                    const CellLimits& limits) {
  const std::string what = "a cell";
  CellCollector collector(limits);
  for (const YamlNode* item : read_list(node, "'cells'")) {
    std::vector<std::string> keys;
    for (std::size_t factor = 0; factor < kFactors; ++factor) {
      keys.push_back(factor_name(factor, Hold::kPool));
    }
    std::vector<std::string> known = keys;
    known.emplace_back(kHeldKey);
    check_map(*item, what, known);
    const auto name = [&](std::size_t factor) {
      return read_known_name(need(*item, keys[factor], what), factor, experiment);
    };
    const auto regime = read_regime(need(*item, "regime", what));
    const auto pool = read_size(need(*item, "pool", what), "'pool'", topology);
    const auto ratio = read_ratio(need(*item, "ratio", what));
    const auto clients = read_clients(need(*item, "clients", what), topology);
    Candidate candidate;
    candidate.cell = {name(kArm),
                      name(kWorkload),
                      regime.value,
                      name(kPlacement),
                      pool_bytes(pool, ratio.value, Hold::kPool),
                      ratio.value,
                      clients.value,
                      0};
    if (const YamlNode* held = item->find(kHeldKey)) {
      candidate.cell.working_set_bytes = held_bytes(read_size(*held, quoted(kHeldKey), topology));
    }
    candidate.regime = regime.origin;
    candidate.pool = pool.origin;
    candidate.ratio = ratio.origin;
    candidate.clients = clients.origin;
    collector.add(candidate);
  }
  return collector.take();
}

}  // namespace numabench
