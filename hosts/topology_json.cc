#include <nlohmann/json.hpp>

#include "hosts/topology.h"

namespace numabench {
namespace {

using Json = nlohmann::ordered_json;

Json nodes_json(const Topology& topology) {
  Json nodes = Json::array();
  for (const Node& node : topology.nodes()) {
    Json object{{"id", node.id},
                {"cpus", format_id_list(node.cpus)},
                {"memory_bytes", node.memory_bytes},
                {"allowed", node.allowed}};
    if (!node.near_cpus.empty()) object["near_cpus"] = format_id_list(node.near_cpus);
    if (!node.kind.empty()) object["kind"] = node.kind;
    nodes.push_back(std::move(object));
  }
  return nodes;
}

Json cpus_json(const Topology& topology) {
  Json cpus = Json::array();
  for (const Cpu& cpu : topology.cpus()) {
    Json object{{"id", cpu.id}, {"core", cpu.core}, {"package", cpu.package}};
    if (cpu.die >= 0) object["die"] = cpu.die;
    object["node"] = cpu.node < 0 ? Json() : Json(cpu.node);
    object["allowed"] = cpu.allowed;
    cpus.push_back(std::move(object));
  }
  return cpus;
}

Json groups_json(const Topology& topology) {
  Json groups = Json::array();
  for (const Group& group : topology.groups()) {
    groups.push_back({{"kind", group.kind},
                      {"cpus", format_id_list(group.cpus)},
                      {"nodes", format_id_list(group.nodes)}});
  }
  return groups;
}

Json caches_json(const Topology& topology) {
  Json caches = Json::array();
  for (const Cache& cache : topology.caches()) {
    caches.push_back({{"level", cache.memory_side ? Json("memory-side") : Json(cache.level)},
                      {"bytes", cache.bytes},
                      {"count", cache.count}});
  }
  return caches;
}

// A row from each node, in the order of `nodes`; null where the firmware gives none.
Json distances_json(const Topology& topology) {
  Json rows = Json::array();
  for (const Node& from : topology.nodes()) {
    Json row = Json::array();
    for (const Node& to : topology.nodes()) {
      const int distance = topology.distance(from.id, to.id);
      row.push_back(distance == 0 ? Json() : Json(distance));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json attributes_json(const Topology& topology) {
  Json attributes = Json::array();
  for (const MemoryAttribute& attribute : topology.memory_attributes()) {
    attributes.push_back({{"name", attribute.name},
                          {"node", attribute.node},
                          {"from_cpus", format_id_list(attribute.cpus)},
                          {"value", attribute.value}});
  }
  return attributes;
}

}  // namespace

std::string topology_json(const Topology& topology) {
  Json json{{"source", topology.source()},
            {"this_host", topology.is_this_host()},
            {"cpu_model", topology.cpu_model()},
            {"packages", topology.packages()}};
  if (topology.dies() > 0) json["dies"] = topology.dies();
  json["cores"] = topology.cores();
  json["memory_bytes"] = topology.memory_bytes();
  json["allowed_cpus"] = format_id_list(topology.allowed_cpus());
  json["allowed_nodes"] = format_id_list(topology.allowed_nodes());
  json["nodes_with_cpus"] = format_id_list(topology.nodes_with_cpus());
  json["offline_cpus"] = format_id_list(topology.offline_cpus());
  json["nodes"] = nodes_json(topology);
  json["distances"] = distances_json(topology);
  json["memory_attributes"] = attributes_json(topology);
  json["groups"] = groups_json(topology);
  json["caches"] = caches_json(topology);
  json["cpus"] = cpus_json(topology);
  json["numa_defect"] = topology.numa_defect().empty() ? Json() : Json(topology.numa_defect());
  json["warnings"] = topology.warnings();
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace numabench
