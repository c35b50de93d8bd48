// Placement on machines with several nodes (tests/guests): the kernel's own words are the truth.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "hosts/error.h"
#include "hosts/placement.h"
#include "hosts/process.h"
#include "hosts/shared_region.h"
#include "tests/hosts/channel.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/kernel_view.h"

namespace numabench {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = 1 << 20;

class PlacementOnManyNodes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (topology_.nodes().size() < 2) GTEST_SKIP() << "needs two nodes";
  }

  /// Where the kernel put 8 MiB that a worker under `placement` has touched.
  static std::map<int, std::uint64_t> pages_touched_under(const Placement& placement) {
    const SharedRegion region(8 * kMiB, SharedRegion::HugePages::kOff);
    Worker worker = Worker::fork(placement, [&] {
      std::fill_n(region.data(), region.size(), std::byte{1});
      return 0;
    });
    EXPECT_TRUE(worker.wait(std::chrono::seconds(60)).ok());
    return region.bytes_per_node();
  }

  /// What numa_maps says of the stack of a process under `placement`, which observe() must agree
  /// with.
  static std::string policy_under(const Placement& placement) {
    Channel ready;
    const Worker worker = Worker::fork(placement, [&]() -> int {
      ready.send('x');
      sleep_for_ever();
    });
    ready.receive<char>();
    const auto observed = observe(worker.pid());
    EXPECT_EQ(mismatch(placement, *observed), "");
    std::istringstream maps(proc_file(worker.pid(), "numa_maps"));
    for (std::string line; std::getline(maps, line);) {
      const auto stack = line.find(" stack");
      if (stack == std::string::npos) continue;
      const std::string policy = line.substr(line.find(' ') + 1, stack - line.find(' ') - 1);
      EXPECT_EQ(observed->policy, policy);
      return policy;
    }
    return "no stack";
  }

  std::string refusal(const std::function<void()>& call) const {
    const Error error = error_of(call);
    EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
    return error.what();
  }

  const Topology topology_ = Topology::of_this_host();
  const IdSet nodes_ = topology_.allowed_nodes();
  const IdSet cpus_ = usable_cpus(::getpid());
  const int last_ = nodes_.empty() ? -1 : *nodes_.rbegin();
  const std::string all_ = format_id_list(nodes_);
};

TEST_F(PlacementOnManyNodes, BindPutsEveryPageOnItsNode) {
  for (const int node : nodes_) {
    const Placement placement{{}, MemoryPolicy::kBind, {node}};
    check(placement, topology_);
    EXPECT_EQ(policy_under(placement), fmt::format("bind:{}", node));
    EXPECT_EQ(pages_touched_under(placement), (std::map<int, std::uint64_t>{{node, 8 * kMiB}}));
  }
}

TEST_F(PlacementOnManyNodes, PreferredPutsEveryPageOnItsNodeWhileThereIsRoom) {
  const Placement one{{}, MemoryPolicy::kPreferred, {last_}};
  check(one, topology_);
  EXPECT_EQ(policy_under(one), fmt::format("prefer:{}", last_));
  EXPECT_EQ(pages_touched_under(one), (std::map<int, std::uint64_t>{{last_, 8 * kMiB}}));
  const Placement many{{}, MemoryPolicy::kPreferredMany, nodes_};
  check(many, topology_);
  EXPECT_EQ(policy_under(many), "prefer (many):" + all_);
}

TEST_F(PlacementOnManyNodes, InterleaveDealsThePages) {
  const Placement placement{{}, MemoryPolicy::kInterleave, nodes_};
  check(placement, topology_);
  EXPECT_EQ(policy_under(placement), "interleave:" + all_);
  const auto census = pages_touched_under(placement);
  ASSERT_EQ(census.size(), nodes_.size());
  for (const auto& [node, bytes] : census) {
    EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(8 * kMiB / nodes_.size()), 8192)
        << node;
  }
}

TEST_F(PlacementOnManyNodes, LocalAndDefaultTakeTheNodeOfTheCpu) {
  for (const int node : topology_.nodes_with_cpus()) {
    if (!nodes_.contains(node)) continue;
    for (const MemoryPolicy policy : {MemoryPolicy::kLocal, MemoryPolicy::kDefault}) {
      EXPECT_EQ(pages_touched_under({cpus_of_nodes({node}, topology_), policy, {}}),
                (std::map<int, std::uint64_t>{{node, 8 * kMiB}}));
    }
  }
}

TEST_F(PlacementOnManyNodes, BalancingIsABindThatIsWatched) {
  const Placement placement{{}, MemoryPolicy::kBind, nodes_, true};
  check(placement, topology_);
  // Kernels before 6.13 have no word for it.
  EXPECT_THAT(policy_under(placement), ::testing::AnyOf("bind=:" + all_, "bind=balancing:" + all_));
}

// Where the kernel has it the pages are dealt by weights, else it is refused before anything runs.
TEST_F(PlacementOnManyNodes, WeightedInterleaveIsThereOrRefusedWithTheKernelThatHasIt) {
  const Placement placement{{}, MemoryPolicy::kWeightedInterleave, nodes_};
  try {
    check(placement, topology_);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
    EXPECT_THAT(error.what(), HasSubstr("it needs Linux 6.9, this is "));
    return;
  }
  EXPECT_EQ(policy_under(placement), "weighted interleave:" + all_);
  EXPECT_EQ(pages_touched_under(placement).size(), nodes_.size());
}

TEST_F(PlacementOnManyNodes, EachNodesCpusAreThoseThatTheKernelLists) {
  for (const int node : topology_.nodes_with_cpus()) {
    std::ifstream file(fmt::format("/sys/devices/system/node/node{}/cpulist", node));
    std::string text;
    std::getline(file, text);
    IdSet expected;
    std::ranges::set_intersection(*parse_id_list(text), cpus_,
                                  std::inserter(expected, expected.end()));
    const IdSet bound = cpus_of_nodes({node}, topology_);
    EXPECT_EQ(bound, expected);
    Worker worker = Worker::fork({bound, MemoryPolicy::kDefault, {}}, [&] {
      return status_value(::getpid(), "Cpus_allowed_list") == format_id_list(bound) ? 0 : 1;
    });
    EXPECT_TRUE(worker.wait(std::chrono::seconds(60)).ok()) << node;
  }
}

TEST_F(PlacementOnManyNodes, NoPageOfABoundProcessIsWhereTheCpusetForbids) {
  const auto all = resolve_memory_nodes(*parse_id_expression("all"), topology_);
  EXPECT_EQ(all, *parse_id_list(status_value(::getpid(), "Mems_allowed_list")));
}

// Rows of REQUIREMENTS part B in brackets; each is for the machines that have such a node.

TEST_F(PlacementOnManyNodes, ANodeWithoutCpusIsRefused) {  // [3]
  for (const Node& node : topology_.nodes()) {
    if (!node.cpus.empty() || !node.allowed) continue;
    EXPECT_EQ(refusal([&] { cpus_of_nodes({node.id}, topology_); }),
              fmt::format("node {} has no CPUs; nodes with CPUs: {}", node.id,
                          format_id_list(topology_.nodes_with_cpus())));
  }
}

TEST_F(PlacementOnManyNodes, ANodeWithoutMemoryLendsItsCpusAndSaysWhoseMemoryTheyGet) {  // [1] [2]
  for (const Node& node : topology_.nodes()) {
    if (node.cpus.empty() || node.memory_bytes > 0) continue;
    const Placement placement{cpus_of_nodes({node.id}, topology_), MemoryPolicy::kDefault, {}};
    check(placement, topology_);
    const auto notes = placement_notes(placement, topology_);
    ASSERT_EQ(notes.size(), 1u);
    const auto census = pages_touched_under(placement);
    ASSERT_EQ(census.size(), 1u);
    EXPECT_THAT(notes[0], HasSubstr(fmt::format("node {} has no memory", node.id)));
    EXPECT_THAT(notes[0],
                HasSubstr(fmt::format("comes from node {}, the nearest", census.begin()->first)));
    const Placement bound{{}, MemoryPolicy::kInterleave, {node.id, last_}};
    EXPECT_THAT(refusal([&] { check(bound, topology_); }),  // [4]
                HasSubstr(fmt::format("node {} has no memory; allowed nodes with memory: {}, the "
                                      "nearest is",
                                      node.id, all_)));
  }
}

TEST_F(PlacementOnManyNodes, AHoleIsRefusedAsANumberPastTheEndIs) {
  const int end = topology_.nodes().back().id + 1;
  IdSet known;
  for (const Node& node : topology_.nodes()) known.insert(node.id);
  for (int id = 0; id <= end; ++id) {
    if (known.contains(id)) continue;
    EXPECT_EQ(refusal([&] {
                check({{}, MemoryPolicy::kBind, {id}}, topology_);
              }),
              fmt::format("there is no node {}; allowed nodes with memory: {}", id, all_));
  }
}

TEST_F(PlacementOnManyNodes, WhatTheCpusetForbidsIsRefusedWithWhatItAllows) {  // [9]
  for (const Cpu& cpu : topology_.cpus()) {
    if (cpu.allowed) continue;
    EXPECT_EQ(refusal([&] {
                check({{cpu.id}, MemoryPolicy::kDefault, {}}, topology_);
              }),
              fmt::format("CPU {} is not allowed for this process (cpuset); allowed CPUs: {}",
                          cpu.id, format_id_list(cpus_)));
  }
  for (const Node& node : topology_.nodes()) {
    if (node.allowed || node.memory_bytes == 0) continue;
    EXPECT_EQ(refusal([&] {
                check({{}, MemoryPolicy::kBind, {node.id}}, topology_);
              }),
              fmt::format("node {} is not allowed for this process (cpuset); allowed nodes with "
                          "memory: {}",
                          node.id, all_));
  }
}

TEST_F(PlacementOnManyNodes, ACpuThatIsOfflineIsRefused) {
  std::ifstream file("/sys/devices/system/cpu/offline");
  std::string text;
  std::getline(file, text);
  for (const int cpu : parse_id_list(text).value_or(IdSet{})) {
    EXPECT_EQ(refusal([&] {
                check({{cpu}, MemoryPolicy::kDefault, {}}, topology_);
              }),
              fmt::format("CPU {} is offline; allowed CPUs: {}", cpu, format_id_list(cpus_)));
  }
}

}  // namespace
}  // namespace numabench
