#include "hosts/topology_reconciliation.h"

#include <fmt/format.h>
#include <numa.h>

#include <algorithm>
#include <iterator>

#include "hosts/units.h"

namespace numabench {
namespace {

// "node 3", "nodes 0-2"
std::string named(const std::string& noun, const IdSet& ids) {
  return fmt::format("{}{} {}", noun, ids.size() == 1 ? "" : "s", format_id_list(ids));
}

std::string list_or_none(const IdSet& ids) { return ids.empty() ? "none" : format_id_list(ids); }

IdSet without(const IdSet& ids, const IdSet& others) {
  IdSet left;
  std::set_difference(ids.begin(), ids.end(), others.begin(), others.end(),
                      std::inserter(left, left.end()));
  return left;
}

// Nodes of which another has a CPU, too: no machine is built so.
IdSet nodes_that_share_cpus(const std::vector<KernelNode>& nodes) {
  std::map<int, int> owner;
  IdSet sharing;
  for (const KernelNode& node : nodes) {
    for (const int cpu : node.cpus) {
      const auto [first, is_new] = owner.try_emplace(cpu, node.id);
      if (!is_new) sharing.insert({first->second, node.id});
    }
  }
  return sharing;
}

IdSet to_id_set(const bitmask* mask) {
  IdSet ids;
  for (unsigned id = 0; mask != nullptr && id < mask->size; ++id) {
    if (numa_bitmask_isbitset(mask, id) != 0) ids.insert(static_cast<int>(id));
  }
  return ids;
}

}  // namespace

std::vector<std::string> KernelReconciliation::run() {
  take_offline_cpus();
  if (kernel_.nodes.empty()) return warnings_;
  add_hidden_nodes();
  take_cpus();
  take_memory();
  take_distances();
  if (topology_.is_this_host_) {
    take_allowed_cpus();
    take_allowed_nodes();
    ask_libnuma();
  }
  return warnings_;
}

Node* KernelReconciliation::find(int id) {
  const auto node = std::find_if(topology_.nodes_.begin(), topology_.nodes_.end(),
                                 [id](const Node& other) { return other.id == id; });
  return node == topology_.nodes_.end() ? nullptr : &*node;
}

void KernelReconciliation::add_hidden_nodes() {
  IdSet hidden;
  for (const KernelNode& node : kernel_.nodes) {
    const bool is_gpu = kernel_.gpu_nodes.contains(node.id);
    if (Node* known = find(node.id)) {
      if (is_gpu) known->kind = kGpuMemory, known->allowed = false;
      continue;
    }
    Node added;
    added.id = node.id;
    added.kind = is_gpu ? kGpuMemory : "";
    added.allowed = !is_gpu;
    topology_.nodes_.push_back(added);
    if (!is_gpu) hidden.insert(node.id);
  }
  std::sort(topology_.nodes_.begin(), topology_.nodes_.end(),
            [](const Node& left, const Node& right) { return left.id < right.id; });
  if (!hidden.empty()) judge_hidden_nodes(hidden);
}

// hwloc gives up on nodes that are no tree with the packages, and does not look at fake ones.
void KernelReconciliation::judge_hidden_nodes(const IdSet& hidden) {
  const IdSet sharing = nodes_that_share_cpus(kernel_.nodes);
  std::string why = "the firmware's tables contradict each other";
  if (!sharing.empty()) why += fmt::format(" ({} share CPUs)", named("node", sharing));
  if (kernel_.fake_nodes) why = "the nodes are made up (numa=fake)";
  topology_.numa_defect_ = why;
  warnings_.push_back(fmt::format(
      "hwloc leaves out {}: {}. The kernel's nodes are listed, since its memory policies "
      "go by them; trust no placement by nodes",
      named("node", hidden), why));
}

void KernelReconciliation::take_cpus() {
  IdSet known;
  for (const Cpu& cpu : topology_.cpus_) known.insert(cpu.id);
  for (const KernelNode& theirs : kernel_.nodes) {
    Node* ours = find(theirs.id);
    // A gathered folder can have CPUs that its /proc/cpuinfo or cpuset does not.
    const IdSet cpus = without(theirs.cpus, without(theirs.cpus, known));
    if (ours->cpus == cpus) continue;
    if (cpus.empty()) ours->near_cpus = ours->cpus;
    const bool hidden_before = ours->cpus.empty() && ours->memory_bytes == 0;
    if (!hidden_before && !cpus.empty()) {
      warnings_.push_back(fmt::format(
          "hwloc gives node {} CPUs {}, the kernel {}: the kernel's are believed, it schedules",
          ours->id, list_or_none(ours->cpus), list_or_none(cpus)));
    }
    ours->cpus = cpus;
  }
}

void KernelReconciliation::take_memory() {
  for (const KernelNode& theirs : kernel_.nodes) {
    Node* ours = find(theirs.id);
    if (ours->memory_bytes == theirs.memory_bytes) continue;
    if (ours->memory_bytes != 0) {
      warnings_.push_back(fmt::format(
          "hwloc gives node {} {}, the kernel {}: the kernel's is believed, it allocates", ours->id,
          format_bytes(static_cast<double>(ours->memory_bytes)),
          format_bytes(static_cast<double>(theirs.memory_bytes))));
    }
    ours->memory_bytes = theirs.memory_bytes;
  }
}

void KernelReconciliation::take_distances() {
  if (kernel_.distances.empty()) return;
  if (!topology_.distances_.empty() && topology_.numa_defect_.empty()) {
    for (const auto& [pair, distance] : topology_.distances_) {
      const auto theirs = kernel_.distances.find(pair);
      if (theirs == kernel_.distances.end() || theirs->second == distance) continue;
      warnings_.push_back(fmt::format(
          "from node {} to {} hwloc has distance {}, the kernel {}: the kernel's is believed, it "
          "falls back by it",
          pair.first, pair.second, distance, theirs->second));
    }
  }
  topology_.distances_ = kernel_.distances;
}

void KernelReconciliation::take_offline_cpus() {
  topology_.offline_cpus_.insert(kernel_.offline_cpus.begin(), kernel_.offline_cpus.end());
}

void KernelReconciliation::take_allowed_cpus() {
  const IdSet theirs = read_allowed_cpus();
  const IdSet ours = topology_.allowed_cpus();
  if (theirs.empty() || theirs == ours) return;
  warnings_.push_back(
      fmt::format("hwloc allows CPUs {}, the kernel {}: the kernel is believed, it was asked",
                  format_id_list(ours), format_id_list(theirs)));
  for (Cpu& cpu : topology_.cpus_) cpu.allowed = theirs.contains(cpu.id);
}

void KernelReconciliation::take_allowed_nodes() {
  const IdSet theirs = read_allowed_nodes();
  if (theirs.empty()) return;
  IdSet gained, lost;
  for (Node& node : topology_.nodes_) {
    const bool allowed = theirs.contains(node.id) && node.kind != kGpuMemory;
    if (node.memory_bytes != 0 && allowed != node.allowed)
      (allowed ? gained : lost).insert(node.id);
    node.allowed = allowed;
  }
  if (gained.empty() && lost.empty()) return;
  warnings_.push_back(fmt::format(
      "of the nodes that hwloc knows the kernel allows {}, not {}: the kernel is believed "
      "(Mems_allowed_list)",
      list_or_none(gained), list_or_none(lost)));
}

// libnuma is what numactl and PostgreSQL ask.
void KernelReconciliation::ask_libnuma() {
  IdSet with_memory;
  for (const KernelNode& node : kernel_.nodes) {
    if (node.memory_bytes > 0) with_memory.insert(node.id);
  }
  if (numa_available() < 0) {
    if (kernel_.nodes.size() > 1) {
      warnings_.emplace_back(
          "libnuma finds no NUMA though the kernel has several nodes: the kernel is believed, but "
          "here it refuses get_mempolicy (a container?)");
    }
    return;
  }
  const IdSet theirs = to_id_set(numa_all_nodes_ptr);
  IdSet allowed;
  const IdSet mems_allowed = read_allowed_nodes();
  std::set_intersection(with_memory.begin(), with_memory.end(), mems_allowed.begin(),
                        mems_allowed.end(), std::inserter(allowed, allowed.end()));
  if (theirs != allowed) {
    warnings_.push_back(
        fmt::format("libnuma takes nodes {} for those with memory, the kernel {}: the kernel is "
                    "believed; numactl and servers that ask libnuma are not of the same mind",
                    list_or_none(theirs), list_or_none(allowed)));
  }
  const int counted = numa_num_configured_cpus();
  const std::size_t online = topology_.cpus_.size();
  if (counted > 0 && static_cast<std::size_t>(counted) != online) {
    warnings_.push_back(fmt::format(
        "libnuma counts {} CPUs, of which {} {} online: the kernel is believed, libnuma counts "
        "offline ones and those that are not there",
        counted, online, online == 1 ? "is" : "are"));
  }
}

}  // namespace numabench
