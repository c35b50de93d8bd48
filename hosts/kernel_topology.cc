#include "hosts/kernel_topology.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <sstream>

#include "hosts/files.h"

namespace numabench {
namespace {

// "0000,0000ffff" of a cpumap: the last digit has the lowest four CPUs. Lists are no older than
// 2008.
IdSet parse_cpu_map(const std::string& text) {
  IdSet cpus;
  int first = 0;
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit) {
    unsigned bits = 0;
    if (std::from_chars(&*digit, &*digit + 1, bits, 16).ec != std::errc{}) continue;  // a comma
    for (int bit = 0; bit < 4; ++bit) {
      if ((bits >> bit & 1U) != 0) cpus.insert(first + bit);
    }
    first += 4;
  }
  return cpus;
}

// "Node 0 MemTotal:  7170260 kB"
std::uint64_t parse_memory(const std::string& meminfo, int node) {
  const auto value = labelled_value(meminfo, fmt::format("Node {} MemTotal", node));
  return value ? std::stoull(*value) * 1024 : 0;
}

// The ids of the folders node0, node1 …; also of kernels without an `online` file there.
IdSet node_ids(const std::string& folder) {
  IdSet ids;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("node")) continue;
    const auto id = parse_id_list(name.substr(4));
    if (id && id->size() == 1) ids.insert(*id->begin());
  }
  return ids;
}

void read_nodes(const std::string& folder, KernelTopology& kernel) {
  const IdSet ids = node_ids(folder);
  for (const int id : ids) {
    const std::string node = fmt::format("{}/node{}/", folder, id);
    kernel.nodes.push_back({id, parse_cpu_map(read_text_file(node + "cpumap").value_or("")),
                            parse_memory(read_text_file(node + "meminfo").value_or(""), id)});
    std::istringstream distances(read_text_file(node + "distance").value_or(""));
    for (const int to : ids) {
      int distance = 0;
      if (distances >> distance) kernel.distances[{id, to}] = distance;
    }
  }
}

IdSet read_gpu_nodes(const std::string& root) {
  IdSet nodes;
  std::error_code ignored;
  const std::string gpus = root + "/proc/driver/nvidia/gpus";
  for (const auto& gpu : std::filesystem::directory_iterator(gpus, ignored)) {
    const auto status = read_text_file(gpu.path() / "numa_status");
    const auto node = status ? labelled_value(*status, "Node") : std::nullopt;
    const auto id = node ? parse_id_list(*node) : std::nullopt;
    if (id) nodes.insert(id->begin(), id->end());
  }
  return nodes;
}

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

}  // namespace

KernelTopology read_kernel_topology(const std::string& root) {
  KernelTopology kernel;
  const std::string system = root + "/sys/devices/system";
  read_nodes(system + "/node", kernel);
  const auto present = parse_id_list(read_text_file(system + "/cpu/present").value_or(""));
  const auto online = parse_id_list(read_text_file(system + "/cpu/online").value_or(""));
  if (present && online && !online->empty()) {
    std::set_difference(present->begin(), present->end(), online->begin(), online->end(),
                        std::inserter(kernel.offline_cpus, kernel.offline_cpus.end()));
  }
  kernel.gpu_nodes = read_gpu_nodes(root);
  const std::string command_line = read_text_file(root + "/proc/cmdline").value_or("");
  kernel.fake_nodes = command_line.find("numa=fake=") != std::string::npos;
  return kernel;
}

IdSet read_allowed_cpus() {
  constexpr int kMostCpus = 1 << 14;
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  const std::unique_ptr<cpu_set_t, FreeCpuSet> before(CPU_ALLOC(kMostCpus));
  const std::unique_ptr<cpu_set_t, FreeCpuSet> mask(CPU_ALLOC(kMostCpus));
  if (::sched_getaffinity(0, bytes, before.get()) != 0) return {};
  CPU_ZERO_S(bytes, mask.get());
  for (int cpu = 0; cpu < kMostCpus; ++cpu)
    CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask.get());
  if (::sched_setaffinity(0, bytes, mask.get()) != 0) return {};
  const bool read = ::sched_getaffinity(0, bytes, mask.get()) == 0;
  ::sched_setaffinity(0, bytes, before.get());
  IdSet cpus;
  for (int cpu = 0; read && cpu < kMostCpus; ++cpu) {
    if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask.get())) cpus.insert(cpu);
  }
  return cpus;
}

IdSet read_allowed_nodes() {
  const std::string status = read_text_file("/proc/self/status").value_or("");
  return parse_id_list(labelled_value(status, "Mems_allowed_list").value_or("")).value_or(IdSet{});
}

}  // namespace numabench
