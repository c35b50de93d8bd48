#include "runner/config/factor_blocks.h"

#include <fmt/format.h>

#include "runner/config/yaml_reader.h"

namespace numabench {
namespace {

class BlockReader {
 public:
  BlockReader(Hold hold, Regime usual_regime, NamedFactors named, const Topology& topology)
      : hold_(hold), usual_regime_(usual_regime), named_(named), topology_(topology) {}

  /// The lists that `node` has, the others from `shared`.
  FactorLists read(const YamlNode& node, FactorLists shared) {
    for (std::size_t factor = 0; factor < kFactors; ++factor) {
      if (const YamlNode* list = node.find(factor_list_name(factor, hold_))) {
        shared.places[factor] = list->origin;
        read_list(factor, *list, shared);
      }
    }
    return shared;
  }

  void complete(FactorLists& lists, const YamlNode& block) {
    if (lists.regimes.empty()) lists.regimes = {{usual_regime_, {}}};
    if (lists.placements.empty()) lists.placements = named_.placements.read(free_placement());
    for (std::size_t factor = 0; factor < kFactors; ++factor) {
      if (lists.lengths()[factor] > 0) continue;
      const std::string key = factor_list_name(factor, hold_);
      config_error(block.origin, fmt::format("the experiment has no '{}'", key),
                   fmt::format("add '{}: …'", key));
    }
  }

 private:
  static YamlNode free_placement() {
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.text = "free";
    return node;
  }

  void read_list(std::size_t factor, const YamlNode& list, FactorLists& into) {
    switch (factor) {
      case kArm:
        into.arms = named_.arms.read(list);
        break;
      case kWorkload:
        into.workloads = named_.workloads.read(list);
        break;
      case kRegime:
        into.regimes = read_values<Regime>(factor, list, read_regime);
        break;
      case kPlacement:
        into.placements = named_.placements.read(list);
        break;
      case kSize:
        into.sizes = read_values<std::uint64_t>(factor, list, [this](const YamlNode& item) {
          return read_size(item, factor_name(kSize, hold_), topology_);
        });
        break;
      case kRatio:
        into.ratios = read_values<double>(factor, list, read_ratio);
        break;
      default:
        into.clients = read_values<int>(
            factor, list, [this](const YamlNode& item) { return read_clients(item, topology_); });
        break;
    }
  }

  template <typename T, typename Read>
  std::vector<Placed<T>> read_values(std::size_t factor, const YamlNode& list, const Read& read) {
    std::vector<Placed<T>> values;
    for (const YamlNode* item : read_list_or_one(list, quoted(factor_list_name(factor, hold_)))) {
      values.push_back(read(*item));
    }
    return values;
  }

  Hold hold_;
  Regime usual_regime_;
  NamedFactors named_;
  const Topology& topology_;
};

}  // namespace

Hold read_hold(const YamlNode& root) {
  const YamlNode* node = root.find("hold");
  const std::size_t choice =
      node == nullptr ? 0 : read_choice(*node, "'hold'", {"pool", "working_set"});
  const Hold hold = choice == 0 ? Hold::kPool : Hold::kWorkingSet;
  const std::string wrong =
      factor_list_name(kSize, hold == Hold::kPool ? Hold::kWorkingSet : Hold::kPool);
  if (const YamlNode* list = root.find(wrong)) {
    config_error(list->origin,
                 fmt::format("'{}' is listed, but hold is {}", wrong, factor_name(kSize, hold)),
                 fmt::format("list '{}', or change 'hold'", factor_list_name(kSize, hold)));
  }
  return hold;
}

std::vector<FactorLists> read_blocks(const YamlNode& root, Hold hold, Regime usual_regime,
                                     NamedFactors named, const Topology& topology) {
  BlockReader reader(hold, usual_regime, named, topology);
  FactorLists shared = reader.read(root, {});
  const YamlNode* matrix = root.find("matrix");
  if (matrix == nullptr) {
    reader.complete(shared, root);
    return {std::move(shared)};
  }
  std::vector<FactorLists> blocks;
  for (const YamlNode* block : read_list(*matrix, "'matrix'")) {
    check_map(*block, "a block of 'matrix'", factor_list_names(hold));
    blocks.push_back(reader.read(*block, shared));
    reader.complete(blocks.back(), *block);
  }
  return blocks;
}

}  // namespace numabench
