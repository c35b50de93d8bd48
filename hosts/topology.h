// The topology of a host: packages, dies, groups, NUMA nodes, cores, CPUs, caches, memory,
// distances and memory attributes.
//
// Start here: `Topology::of_this_host()`. hwloc is the source; where the kernel's /sys says
// something else the kernel is believed, since it decides where memory comes from, and a warning
// says so. A topology read from a file or a synthetic description is for looking and planning only:
// `is_this_host()` is false and nothing may be run on it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hosts/id_set.h"

namespace numabench {

/// One hardware thread (hwloc: PU). Ids are the operating system's.
struct Cpu {
  int id = 0;
  int core = 0;         ///< index of its core, in hwloc's logical order
  int package = 0;      ///< index of its package, in hwloc's logical order
  int die = -1;         ///< index of its die, in hwloc's logical order; -1 where dies are unknown
  int node = -1;        ///< id of the nearest NUMA node that holds this CPU; -1 if none does
  bool allowed = true;  ///< this process may run on it: its cpuset, not its affinity, decides
};

/// One NUMA node. A node can have CPUs and no memory, or memory and no CPUs; ids can have holes.
struct Node {
  int id = 0;       ///< the operating system's id
  IdSet cpus;       ///< all its CPUs, allowed or not
  IdSet near_cpus;  ///< of a node without CPUs: those it is nearest to, where the source says so
  std::uint64_t memory_bytes = 0;
  std::string kind;     ///< "DRAM", "HBM", "NVM", "GPU memory"; empty where the source says nothing
  bool allowed = true;  ///< this process may allocate from it; false for a GPU's memory
};

/// CPUs between a package and a core that the source groups: clusters, blades, nodes at a distance.
struct Group {
  std::string kind;  ///< "Cluster"; empty where the source gives no name
  IdSet cpus;
  IdSet nodes;
};

struct Cache {
  int level = 0;
  std::uint64_t bytes = 0;
  int count = 0;             ///< how many caches of this level and size the host has
  bool memory_side = false;  ///< before a node's memory and not before a CPU; `level` says nothing
};

/// What the platform (ACPI HMAT) says of the way from CPUs to a node's memory.
struct MemoryAttribute {
  std::string name;  ///< hwloc's: "Bandwidth" and "ReadBandwidth" in MiB/s, "Latency" in ns
  int node = 0;
  IdSet cpus;  ///< from which
  std::uint64_t value = 0;
};

class Topology {
 public:
  /// Throws Error(kPreflight) when hwloc cannot read the machine.
  static Topology of_this_host();
  /// hwloc XML as written by lstopo. Throws Error(kUsage) when it cannot be read.
  static Topology of_xml_file(const std::string& path);
  /// A folder as `hwloc-gather-topology` makes it of another Linux host: its /sys and /proc. Throws
  /// Error(kUsage). Not while other threads run: hwloc takes the folder from the environment.
  static Topology of_gathered_folder(const std::string& path);
  /// hwloc's synthetic syntax, such as "pack:2 node:1 core:4 pu:2". Throws Error(kUsage).
  static Topology of_synthetic(const std::string& description);

  bool is_this_host() const { return is_this_host_; }
  const std::string& source() const { return source_; }  ///< "this host", the path or description
  const std::string& cpu_model() const { return cpu_model_; }
  const std::vector<Cpu>& cpus() const { return cpus_; }     ///< ascending ids
  const std::vector<Node>& nodes() const { return nodes_; }  ///< ascending ids
  const std::vector<Cache>& caches() const { return caches_; }
  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<MemoryAttribute>& memory_attributes() const { return memory_attributes_; }
  const IdSet& offline_cpus() const { return offline_cpus_; }  ///< not in cpus()
  int packages() const { return packages_; }                   ///< 1 where the source names none
  int dies() const { return dies_; }                           ///< 0 where the source names none
  int cores() const { return cores_; }  ///< its CPUs where the source names none

  IdSet allowed_cpus() const;
  IdSet allowed_nodes() const;         ///< allowed nodes with memory
  IdSet nodes_with_cpus() const;       ///< nodes with at least one allowed CPU
  std::uint64_t memory_bytes() const;  ///< sum over allowed nodes
  IdSet cpus_of_node(int node) const;  ///< allowed CPUs only; empty for an unknown id
  int node_of_cpu(int cpu) const;      ///< -1 if unknown
  /// SLIT distance between two node ids; 0 where the firmware gives none.
  int distance(int from_node, int to_node) const;
  /// Why no placement by nodes can be trusted here: the firmware's tables contradict each other, or
  /// the nodes are made up (numa=fake). Empty where they can.
  const std::string& numa_defect() const { return numa_defect_; }
  /// What a reader should know, each with what follows: "node 1 without memory: no memory can be
  /// bound there".
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// The whole topology as hwloc XML, for the results store.
  const std::string& xml() const { return xml_; }

 private:
  friend class TopologyReader;
  friend class KernelReconciliation;
  bool is_this_host_ = false;
  std::string source_;
  std::string cpu_model_;
  std::string xml_;
  std::vector<Cpu> cpus_;
  std::vector<Node> nodes_;
  std::vector<Cache> caches_;
  std::vector<Group> groups_;
  std::vector<MemoryAttribute> memory_attributes_;
  IdSet offline_cpus_;
  int packages_ = 0;
  int dies_ = 0;
  int cores_ = 0;
  std::map<std::pair<int, int>, int> distances_;
  std::string numa_defect_;
  std::vector<std::string> warnings_;
};

/// The table `numabench topology` prints: a summary line, a row a node, the distances, the memory
/// attributes and the warnings; readable at 384 CPUs and 64 nodes.
std::string format_topology(const Topology& topology);

/// All of it as JSON, with ids of CPUs as lists ("0-3,8").
std::string topology_json(const Topology& topology);

/// hwloc's own drawing. Throws Error(kPreflight) naming the package when its program is missing.
std::string topology_svg(const Topology& topology);

}  // namespace numabench
