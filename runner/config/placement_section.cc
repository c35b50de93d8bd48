#include "runner/config/placement_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "hosts/id_set.h"
#include "hosts/spelling.h"
#include "runner/config/yaml_reader.h"

namespace numabench {
namespace {

const std::vector<std::string> kRoles{"server", "clients", "scanners", "background_writer",
                                      "loader"};
constexpr std::string_view kFree = "free";
constexpr std::string_view kSpread = "spread";
const std::vector<std::string> kSpreadRoles{"clients", "scanners"};
constexpr std::array kSpreads{Spread::kCores, Spread::kNodes, Spread::kPackages, Spread::kSmtLast};

struct MemoryKey {
  const char* key;
  MemoryPolicy policy;
};
constexpr std::array kMemoryKeys{
    MemoryKey{"membind", MemoryPolicy::kBind},
    MemoryKey{"preferred", MemoryPolicy::kPreferred},
    MemoryKey{"preferred_many", MemoryPolicy::kPreferredMany},
    MemoryKey{"interleave", MemoryPolicy::kInterleave},
    MemoryKey{"weighted_interleave", MemoryPolicy::kWeightedInterleave},
    MemoryKey{"localalloc", MemoryPolicy::kLocal},
};

std::vector<std::string> role_keys(const std::string& role) {
  std::vector<std::string> keys{"cpunodebind", "physcpubind"};
  for (const MemoryKey& memory : kMemoryKeys) keys.emplace_back(memory.key);
  keys.emplace_back("balancing");
  if (std::ranges::count(kSpreadRoles, role) > 0) keys.emplace_back("spread");
  if (role == "server") keys.emplace_back("touch");
  return keys;
}

using Resolver = std::function<IdSet(const IdExpression&, const Topology&)>;

/// numactl also takes the nodes near a device, a file or an address.
bool names_a_device(const std::string& text) {
  constexpr std::array<std::string_view, 5> kSources{"netdev:", "file:", "ip:", "block:", "pci:"};
  return std::ranges::any_of(kSources,
                             [&](std::string_view source) { return text.starts_with(source); });
}

IdSet read_ids(const YamlNode& node, const std::string& what, const Topology* host,
               const Resolver& resolve) {
  if (!node.is_scalar()) {
    config_error(node.origin, what + " must be a list of ids in one text",
                 "write 0-3,8 or all, and what begins with ! in quotes");
  }
  if (names_a_device(node.text)) {
    config_error(node.origin,
                 fmt::format("{} cannot be '{}': nodes near devices, files and addresses are not "
                             "looked up",
                             what, node.text),
                 "write the ids that numactl finds for it");
  }
  const std::optional<IdExpression> expression = parse_id_expression(node.text);
  if (!expression) {
    config_error(node.origin, fmt::format("{} cannot be '{}'", what, node.text),
                 "write ids as numactl does: 0-3,8, +0-1, !2 or all");
  }
  if (host == nullptr) return expression->ids;
  IdSet ids;
  with_place(node.origin, [&] { ids = resolve(*expression, *host); });
  return ids;
}

/// Reads the options of one role.
class RoleReader {
 public:
  RoleReader(const YamlNode& role, const Topology& topology, bool stored)
      : role_(role), topology_(topology), host_(stored ? nullptr : &topology) {}

  Placement read() {
    read_cpus();
    for (const MemoryKey& memory : kMemoryKeys) {
      if (const YamlNode* value = role_.find(memory.key)) read_memory(*value, memory);
    }
    read_balancing();
    if (const YamlNode* touch = role_.find("touch")) {
      placement_.touch = read_boolean(*touch, "'touch'");
    }
    return placement_;
  }

 private:
  void read_cpus() {
    const YamlNode* nodes = role_.find("cpunodebind");
    const YamlNode* cpus = role_.find("physcpubind");
    if (nodes != nullptr && cpus != nullptr) {
      config_error(cpus->origin, "'physcpubind' and 'cpunodebind' both say where to run",
                   "keep one of them");
    }
    if (cpus != nullptr) {
      placement_.cpus = read_ids(*cpus, "'physcpubind'", host_, resolve_cpus);
    }
    if (nodes != nullptr) {
      cpu_nodes_ = read_ids(*nodes, "'cpunodebind'", host_, resolve_cpu_nodes);
      placement_.cpus = cpus_of_nodes(cpu_nodes_, topology_);
    }
  }

  void read_memory(const YamlNode& value, const MemoryKey& memory) {
    if (placement_.memory != MemoryPolicy::kDefault) {
      config_error(value.origin, quoted(memory.key) + " is a second memory policy",
                   "keep one of them");
    }
    if (memory.policy == MemoryPolicy::kLocal) {
      if (read_boolean(value, "'localalloc'")) placement_.memory = MemoryPolicy::kLocal;
      return;
    }
    placement_.memory = memory.policy;
    placement_.memory_nodes = read_memory_nodes(value, quoted(memory.key));
    if (memory.policy == MemoryPolicy::kPreferred && placement_.memory_nodes.size() != 1) {
      config_error(value.origin, "'preferred' takes one node", "name one, or use preferred_many");
    }
  }

  IdSet read_memory_nodes(const YamlNode& value, const std::string& what) const {
    if (value.text != "same") return read_ids(value, what, host_, resolve_memory_nodes);
    if (cpu_nodes_.empty()) {
      config_error(value.origin, what + " is 'same' as nothing", "give the role a cpunodebind");
    }
    IdSet ids;
    with_place(value.origin, [&] {
      ids = resolve_memory_nodes(
          {.all = false, .inverted = false, .relative = false, .ids = cpu_nodes_}, topology_);
    });
    return ids;
  }

  void read_balancing() {
    const YamlNode* balancing = role_.find("balancing");
    if (balancing == nullptr) return;
    placement_.balancing = read_boolean(*balancing, "'balancing'");
    if (placement_.balancing && placement_.memory != MemoryPolicy::kBind) {
      config_error(balancing->origin, "'balancing' works within 'membind' only",
                   "bind the memory, or leave it to the kernel's numa_balancing");
    }
  }

  const YamlNode& role_;
  const Topology& topology_;
  const Topology* host_;  ///< that ids must be of; nullptr: any
  Placement placement_;
  IdSet cpu_nodes_;  ///< of cpunodebind
};

bool is_by_nodes(Spread spread) { return spread == Spread::kNodes || spread == Spread::kSmtLast; }

Spread read_spread(const YamlNode& value) {
  std::vector<std::string> names;
  for (const Spread spread : kSpreads) names.push_back(to_string(spread));
  return kSpreads.at(read_choice(value, "'spread'", names));
}

/// Whether an option of the role is about nodes.
bool goes_by_nodes(const YamlNode& role) {
  if (role.find("cpunodebind") != nullptr) return true;
  const YamlNode* spread = role.find("spread");
  if (spread != nullptr && is_by_nodes(read_spread(*spread))) return true;
  return std::ranges::any_of(kMemoryKeys, [&](const MemoryKey& memory) {
    return memory.policy != MemoryPolicy::kLocal && role.find(memory.key) != nullptr;
  });
}

/// Not of a placement that is refused already.
void read_role(const YamlNode& value, const std::string& role, const Topology& topology,
               bool stored, PlacementConfig& placement) {
  if (!stored && goes_by_nodes(value)) placement.refusal = refusal_of_nodes(topology);
  if (!placement.refusal.empty()) return;
  placement.roles[role] = RoleReader(value, topology, stored).read();
  if (const YamlNode* spread = value.find("spread")) placement.spreads[role] = read_spread(*spread);
}

PlacementConfig built_in(const YamlNode& item, const std::string& name, const Topology& topology) {
  if (!is_built_in_placement(name)) {
    config_error(item.origin, fmt::format("placement '{}' is not defined", name),
                 suggest(name, {std::string(kFree), std::string(kSpread)}) +
                     " Others are maps of a name and roles");
  }
  PlacementConfig placement;
  placement.name = name;
  if (name == kFree) return placement;
  placement.refusal = refusal_of_nodes(topology);
  if (!placement.refusal.empty()) return placement;
  for (const std::string& role : kSpreadRoles) placement.spreads[role] = Spread::kNodes;
  return placement;
}

}  // namespace

std::string placement_name(const YamlNode& item) {
  return item.is_map() ? read_name(need(item, "name", "the placement"), "'name'")
                       : read_name(item, "a placement");
}

bool is_built_in_placement(const std::string& name) { return name == kFree || name == kSpread; }

std::string memory_key(MemoryPolicy policy) {
  return std::ranges::find(kMemoryKeys, policy, &MemoryKey::policy)->key;
}

PlacementConfig read_placement(const YamlNode& item, const Topology& topology, bool stored,
                               std::map<std::string, Origin>& origins) {
  const std::string name = placement_name(item);
  const std::string path = "placements." + name;
  origins[path] = item.origin;
  if (!item.is_map()) return built_in(item, name, topology);

  std::vector<std::string> keys{"name"};
  keys.insert(keys.end(), kRoles.begin(), kRoles.end());
  if (stored) keys.emplace_back("refused");
  check_map(item, "a placement", keys);
  if (is_built_in_placement(name)) {
    config_error(item.origin, fmt::format("placement '{}' is built in", name),
                 "give yours another name");
  }
  PlacementConfig placement;
  placement.name = name;
  if (const YamlNode* refused = item.find("refused")) {
    placement.refusal = read_text(*refused, "'refused'");
  }
  for (const std::string& role : kRoles) {
    const YamlNode* value = item.find(role);
    if (value == nullptr) continue;
    check_map(*value, "role '" + role + "' of a placement", role_keys(role));
    read_role(*value, role, topology, stored, placement);
    origins[path + "." + role] = value->origin;
  }
  if (!placement.refusal.empty()) {
    placement.roles.clear();
    placement.spreads.clear();
  }
  return placement;
}

}  // namespace numabench
