// The kernel of a machine with several nodes is the truth about it: run in the guests of
// tests/guests/.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "hosts/topology.h"

namespace numabench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream stream(path);
  std::getline(stream, line);
  return line;
}

std::string kernel_nodes(const std::string& state) {
  return first_line("/sys/devices/system/node/" + state);
}

class TopologyOnManyNodes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (topology_.nodes().size() < 2) GTEST_SKIP() << "needs two nodes";
  }
  // "" outside of the guests.
  static std::string guest() {
    const char* name = std::getenv("GUEST");
    return name == nullptr ? "" : name;
  }
  const Topology topology_ = Topology::of_this_host();
};

TEST_F(TopologyOnManyNodes, AgreesWithTheKernelsNodeStates) {
  IdSet all, with_cpus, with_memory;
  for (const Node& node : topology_.nodes()) {
    all.insert(node.id);
    if (!node.cpus.empty()) with_cpus.insert(node.id);
    if (node.memory_bytes > 0) with_memory.insert(node.id);
  }
  EXPECT_EQ(format_id_list(all), kernel_nodes("online"));
  EXPECT_EQ(format_id_list(with_cpus), kernel_nodes("has_cpu"));
  EXPECT_EQ(format_id_list(with_memory), kernel_nodes("has_memory"));
}

TEST_F(TopologyOnManyNodes, GivesEachCpuTheNodeThatTheKernelGivesIt) {
  for (const Node& node : topology_.nodes()) {
    const std::string list =
        first_line(fmt::format("/sys/devices/system/node/node{}/cpulist", node.id));
    EXPECT_EQ(format_id_list(node.cpus), list);
    for (const int cpu : node.cpus) EXPECT_EQ(topology_.node_of_cpu(cpu), node.id) << cpu;
  }
}

TEST_F(TopologyOnManyNodes, HasTheKernelsPackages) {
  std::map<std::string, IdSet> theirs;
  std::map<int, IdSet> ours;
  for (const Cpu& cpu : topology_.cpus()) {
    ours[cpu.package].insert(cpu.id);
    theirs[first_line(
               fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu.id))]
        .insert(cpu.id);
  }
  ASSERT_EQ(ours.size(), theirs.size());
  for (const auto& package : theirs) {
    EXPECT_TRUE(std::any_of(ours.begin(), ours.end(), [&](const auto& entry) {
      return entry.second == package.second;
    })) << package.first;
  }
}

TEST_F(TopologyOnManyNodes, AllowsWhatTheKernelAllows) {
  std::ifstream status("/proc/self/status");
  std::string allowed_nodes;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Mems_allowed_list:")) allowed_nodes = line.substr(line.find('\t') + 1);
  }
  EXPECT_EQ(format_id_list(topology_.allowed_nodes()), allowed_nodes);
  const std::string effective = first_line("/sys/fs/cgroup/guest/cpuset.cpus.effective");
  EXPECT_EQ(format_id_list(topology_.allowed_cpus()),
            effective.empty() ? first_line("/sys/devices/system/cpu/online") : effective);
}

TEST_F(TopologyOnManyNodes, HasNoDefect) { EXPECT_THAT(topology_.numa_defect(), IsEmpty()); }

TEST_F(TopologyOnManyNodes, WarnsOfWhatTheGuestIsMadeFor) {
  const auto& warnings = topology_.warnings();
  if (guest() == "two-nodes" || guest() == "four-nodes" || guest() == "six-nodes" ||
      guest() == "sparse-ids") {
    EXPECT_THAT(warnings, IsEmpty());
  } else if (guest() == "memory-only" || guest() == "hot-added") {
    EXPECT_THAT(warnings, ElementsAre("node 2 without CPUs: no process can be bound there"));
  } else if (guest() == "cpu-only") {
    EXPECT_THAT(warnings, Contains("node 0 without memory: no memory can be bound there"));
  } else if (guest() == "offline-cpu") {
    EXPECT_THAT(warnings, Contains("CPU 3 offline: left out of every placement"));
    EXPECT_THAT(warnings, Contains(StartsWith("libnuma counts 4 CPUs, of which 3 are online")));
  } else if (guest() == "cpuset") {
    EXPECT_THAT(warnings, Contains(HasSubstr("node 0 not allowed")));
    EXPECT_THAT(warnings, Contains(HasSubstr("CPUs 0-1,5 not allowed")));
  } else {
    GTEST_SKIP() << "not one of the guests";
  }
}

}  // namespace
}  // namespace numabench
