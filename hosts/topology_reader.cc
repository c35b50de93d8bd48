#include "hosts/topology_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

#include "hosts/topology_reconciliation.h"
#include "hosts/topology_warnings.h"

namespace numabench {
namespace {

// The `type` objects in ascending logical order. By type and not by depth: NUMA nodes have a
// virtual depth, and groups appear and vanish between hosts.
std::vector<hwloc_obj_t> objects(hwloc_topology_t topology, hwloc_obj_type_t type) {
  std::vector<hwloc_obj_t> found;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr) {
    found.push_back(object);
  }
  return found;
}

IdSet to_id_set(hwloc_const_bitmap_t bitmap) {
  IdSet ids;
  if (bitmap == nullptr) return ids;
  for (int id = hwloc_bitmap_first(bitmap); id != -1; id = hwloc_bitmap_next(bitmap, id)) {
    ids.insert(id);
  }
  return ids;
}

// The logical index of the object of `type` that holds `pu`; `otherwise` where the topology has no
// such objects.
int index_of_ancestor(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_type_t type,
                      unsigned otherwise) {
  const hwloc_obj_t ancestor = hwloc_get_ancestor_obj_by_type(topology, type, pu);
  return static_cast<int>(ancestor == nullptr ? otherwise : ancestor->logical_index);
}

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

std::string find_cpu_model(hwloc_topology_t topology) {
  const std::vector<hwloc_obj_t> packages = objects(topology, HWLOC_OBJ_PACKAGE);
  const hwloc_obj_t holder = packages.empty() ? hwloc_get_root_obj(topology) : packages.front();
  return text_or_empty(hwloc_obj_get_info_by_name(holder, "CPUModel"));
}

// "Cluster", "Book" …: since hwloc 2 a subtype, before that an information of its own.
std::string kind_of(hwloc_obj_t object) {
  if (object->subtype != nullptr) return object->subtype;
  return text_or_empty(hwloc_obj_get_info_by_name(object, "Type"));
}

std::string export_xml(hwloc_topology_t topology) {
  char* buffer = nullptr;
  int length = 0;
  if (hwloc_topology_export_xmlbuffer(topology, &buffer, &length, 0) != 0) return "";
  std::string xml(buffer);
  hwloc_free_xmlbuffer(topology, buffer);
  return xml;
}

}  // namespace

Topology TopologyReader::read(const std::optional<KernelTopology>& kernel) {
  result_.is_this_host_ = hwloc_topology_is_thissystem(hwloc_.get()) != 0;
  result_.cpu_model_ = find_cpu_model(hwloc_.get());
  result_.xml_ = export_xml(hwloc_.get());
  read_nodes();
  read_cpus();
  read_groups();
  read_offline_cpus();
  read_caches();
  read_distances();
  read_memory_attributes();
  std::vector<std::string> disagreements;
  if (kernel) disagreements = KernelReconciliation(result_, *kernel).run();
  give_cpus_their_nodes();
  result_.warnings_ = topology_warnings(result_);
  std::move(disagreements.begin(), disagreements.end(), std::back_inserter(result_.warnings_));
  if (result_.is_this_host_) warn_of_inherited_affinity();
  return std::move(result_);
}

void TopologyReader::read_nodes() {
  const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_nodeset(hwloc_.get());
  for (const hwloc_obj_t object : objects(hwloc_.get(), HWLOC_OBJ_NUMANODE)) {
    Node node;
    node.id = static_cast<int>(object->os_index);
    node.cpus = to_id_set(object->cpuset);
    node.memory_bytes = object->attr->numanode.local_memory;
    node.kind = kind_of(object);
    node.allowed = hwloc_bitmap_isset(allowed, object->os_index) != 0;
    result_.nodes_.push_back(std::move(node));
  }
  std::sort(result_.nodes_.begin(), result_.nodes_.end(),
            [](const Node& left, const Node& right) { return left.id < right.id; });
}

// hwloc gives the CPUs of a node also to the memory-only nodes near it. The CPU's own node is the
// smallest that holds it; the lower id where two are equal, since Linux numbers nodes with CPUs
// first.
int TopologyReader::node_of(int cpu) const {
  const Node* best = nullptr;
  for (const Node& node : result_.nodes_) {
    if (!node.cpus.contains(cpu)) continue;
    if (best == nullptr || node.cpus.size() < best->cpus.size()) best = &node;
  }
  return best == nullptr ? -1 : best->id;
}

// A node that is then no CPU's own has none: it is memory near those that hwloc gave it. Nodes that
// share CPUs by mistake are shown as they are.
void TopologyReader::give_cpus_their_nodes() {
  IdSet owners;
  for (Cpu& cpu : result_.cpus_) {
    cpu.node = node_of(cpu.id);
    owners.insert(cpu.node);
  }
  if (!result_.numa_defect_.empty()) return;
  for (Node& node : result_.nodes_) {
    if (node.cpus.empty() || owners.contains(node.id)) continue;
    node.near_cpus = std::exchange(node.cpus, {});
  }
}

void TopologyReader::read_cpus() {
  const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(hwloc_.get());
  for (const hwloc_obj_t pu : objects(hwloc_.get(), HWLOC_OBJ_PU)) {
    Cpu cpu;
    cpu.id = static_cast<int>(pu->os_index);
    cpu.core = index_of_ancestor(hwloc_.get(), pu, HWLOC_OBJ_CORE, pu->logical_index);
    cpu.package = index_of_ancestor(hwloc_.get(), pu, HWLOC_OBJ_PACKAGE, 0);
    const hwloc_obj_t die = hwloc_get_ancestor_obj_by_type(hwloc_.get(), HWLOC_OBJ_DIE, pu);
    if (die != nullptr) cpu.die = static_cast<int>(die->logical_index);
    cpu.allowed = hwloc_bitmap_isset(allowed, pu->os_index) != 0;
    result_.cpus_.push_back(cpu);
  }
  std::sort(result_.cpus_.begin(), result_.cpus_.end(),
            [](const Cpu& left, const Cpu& right) { return left.id < right.id; });
  IdSet cores, packages;
  for (const Cpu& cpu : result_.cpus_) {
    cores.insert(cpu.core);
    packages.insert(cpu.package);
  }
  result_.cores_ = static_cast<int>(cores.size());
  result_.packages_ = static_cast<int>(packages.size());
  result_.dies_ = static_cast<int>(objects(hwloc_.get(), HWLOC_OBJ_DIE).size());
}

void TopologyReader::read_groups() {
  for (const hwloc_obj_t group : objects(hwloc_.get(), HWLOC_OBJ_GROUP)) {
    result_.groups_.push_back(
        {kind_of(group), to_id_set(group->cpuset), to_id_set(group->nodeset)});
  }
}

void TopologyReader::read_offline_cpus() {
  const hwloc_obj_t root = hwloc_get_root_obj(hwloc_.get());
  for (const int cpu : to_id_set(root->complete_cpuset)) {
    if (hwloc_bitmap_isset(root->cpuset, static_cast<unsigned>(cpu)) == 0) {
      result_.offline_cpus_.insert(cpu);
    }
  }
}

void TopologyReader::read_caches() {
  std::map<std::tuple<bool, int, std::uint64_t>, int> counts;
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                      HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE, HWLOC_OBJ_MEMCACHE}) {
    for (const hwloc_obj_t cache : objects(hwloc_.get(), type)) {
      ++counts[{type == HWLOC_OBJ_MEMCACHE, static_cast<int>(cache->attr->cache.depth),
                cache->attr->cache.size}];
    }
  }
  for (const auto& [kind, count] : counts) {
    const auto& [memory_side, level, bytes] = kind;
    result_.caches_.push_back({level, bytes, count, memory_side});
  }
}

void TopologyReader::read_distances() {
  // hwloc can hold several matrices (bandwidths between GPUs, user-made ones): the firmware's only.
  const unsigned long kind = HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY;
  hwloc_distances_s* matrix = nullptr;
  unsigned count = 1;
  if (hwloc_distances_get_by_type(hwloc_.get(), HWLOC_OBJ_NUMANODE, &count, &matrix, kind, 0) !=
          0 ||
      count == 0) {
    return;
  }
  for (unsigned from = 0; from < matrix->nbobjs; ++from) {
    for (unsigned to = 0; to < matrix->nbobjs; ++to) {
      const auto from_node = static_cast<int>(matrix->objs[from]->os_index);
      const auto to_node = static_cast<int>(matrix->objs[to]->os_index);
      result_.distances_[{from_node, to_node}] =
          static_cast<int>(matrix->values[from * matrix->nbobjs + to]);
    }
  }
  hwloc_distances_release(hwloc_.get(), matrix);
}

void TopologyReader::read_memory_attributes() {
  for (const hwloc_obj_t node : objects(hwloc_.get(), HWLOC_OBJ_NUMANODE)) {
    for (const hwloc_memattr_id_e attribute :
         {HWLOC_MEMATTR_ID_BANDWIDTH, HWLOC_MEMATTR_ID_READ_BANDWIDTH,
          HWLOC_MEMATTR_ID_WRITE_BANDWIDTH, HWLOC_MEMATTR_ID_LATENCY, HWLOC_MEMATTR_ID_READ_LATENCY,
          HWLOC_MEMATTR_ID_WRITE_LATENCY}) {
      read_memory_attribute(static_cast<hwloc_memattr_id_t>(attribute), node);
    }
  }
}

void TopologyReader::read_memory_attribute(hwloc_memattr_id_t attribute, hwloc_obj_t node) {
  unsigned count = 0;
  if (hwloc_memattr_get_initiators(hwloc_.get(), attribute, node, 0, &count, nullptr, nullptr) !=
      0) {
    return;
  }
  std::vector<hwloc_location> initiators(count);
  std::vector<hwloc_uint64_t> values(count);
  const char* name = nullptr;
  if (count == 0 ||
      hwloc_memattr_get_initiators(hwloc_.get(), attribute, node, 0, &count, initiators.data(),
                                   values.data()) != 0 ||
      hwloc_memattr_get_name(hwloc_.get(), attribute, &name) != 0) {
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    const hwloc_location& from = initiators[i];
    const hwloc_const_bitmap_t cpus = from.type == HWLOC_LOCATION_TYPE_CPUSET
                                          ? from.location.cpuset
                                          : from.location.object->cpuset;
    result_.memory_attributes_.push_back(
        {name, static_cast<int>(node->os_index), to_id_set(cpus), values[i]});
  }
}

// An affinity mask, unlike a cpuset, forbids nothing: a placement may leave it. With isolcpus= the
// CPUs meant for measuring are just those outside.
void TopologyReader::warn_of_inherited_affinity() {
  const std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> mask(hwloc_bitmap_alloc(),
                                                                       hwloc_bitmap_free);
  if (hwloc_get_cpubind(hwloc_.get(), mask.get(), HWLOC_CPUBIND_THREAD) != 0) return;
  const IdSet inherited = to_id_set(mask.get());
  if (inherited == result_.allowed_cpus()) return;
  result_.warnings_.push_back(
      fmt::format("started on CPUs {} only (taskset, isolcpus): what has no CPUs of its own in its "
                  "placement stays there",
                  format_id_list(inherited)));
}

}  // namespace numabench
