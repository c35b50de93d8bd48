#include "hosts/placement.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <sstream>
#include <thread>

#include "hosts/process.h"
#include "tests/hosts/channel.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/kernel_view.h"
#include "tests/paths.h"

namespace numabench {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

const std::string kData = source_dir() + "/tests/hosts/data/";

IdSet own_cpus() { return usable_cpus(::getpid()); }
int first_node() { return *parse_id_list(status_value(::getpid(), "Mems_allowed_list"))->begin(); }

// A worker that has applied its placement, for as long as the test looks at it.
class PlacedWorker {
 public:
  explicit PlacedWorker(const Placement& placement)
      : worker_(Worker::fork(placement, [this]() -> int {
          ready_.send('x');
          sleep_for_ever();
        })) {
    ready_.receive<char>();
  }
  pid_t pid() const { return worker_.pid(); }

 private:
  Channel ready_;
  Worker worker_;
};

std::string stack_line(pid_t pid) {
  std::istringstream maps(proc_file(pid, "numa_maps"));
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" stack") != std::string::npos) return line;
  }
  return "";
}

TEST(Placement, IsDescribedInNumactlsWords) {
  EXPECT_EQ(describe(Placement{}), "free");
  EXPECT_EQ(describe(Placement{{0, 1, 2, 3}, MemoryPolicy::kBind, {0}}), "cpus 0-3, bind 0");
  EXPECT_EQ(describe(Placement{{}, MemoryPolicy::kInterleave, {0, 1}}), "interleave 0-1");
  EXPECT_EQ(describe(Placement{{5}, MemoryPolicy::kPreferred, {1}}), "cpus 5, preferred 1");
  EXPECT_EQ(describe(Placement{{}, MemoryPolicy::kLocal, {}}), "local");
  EXPECT_EQ(describe(Placement{{2}, MemoryPolicy::kDefault, {}}), "cpus 2");
  EXPECT_EQ(describe(Placement{{}, MemoryPolicy::kPreferredMany, {0, 1}}), "preferred-many 0-1");
  EXPECT_EQ(describe(Placement{{}, MemoryPolicy::kWeightedInterleave, {0, 1}}),
            "weighted-interleave 0-1");
  EXPECT_EQ(describe(Placement{{}, MemoryPolicy::kBind, {0, 2}, true}), "bind 0,2 balancing");
  EXPECT_EQ(describe(Placement{{}, MemoryPolicy::kBind, {0}, false, true}), "bind 0, touch");
  EXPECT_EQ(describe(Placement{{}, MemoryPolicy::kDefault, {}, false, true}), "touch");
}

TEST(Placement, PinsToEachAllowedCpu) {
  for (const int cpu : own_cpus()) {
    const Placement placement{{cpu}, MemoryPolicy::kDefault, {}};
    const PlacedWorker worker(placement);
    EXPECT_EQ(status_value(worker.pid(), "Cpus_allowed_list"), std::to_string(cpu));
    const auto observed = observe(worker.pid());
    ASSERT_TRUE(observed);
    EXPECT_EQ(observed->cpus, IdSet{cpu});
    EXPECT_EQ(mismatch(placement, *observed), "");
  }
}

struct PolicyCase {
  MemoryPolicy policy;
  bool has_node;
  std::string kernel_word;
  bool balancing = false;
  std::string later_kernel_word = {};  ///< since 6.13

  /// Of the test: "prefer_many", "bind_balancing".
  std::string name() const {
    std::string name;
    for (const char c : later_kernel_word.empty() ? kernel_word : later_kernel_word) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
      if (c == ' ' || c == '=') name += '_';
    }
    return name;
  }
};

std::ostream& operator<<(std::ostream& stream, const PolicyCase& tested) {
  return stream << tested.name();
}

// Refused with the kernel that has the policy, when this one has not.
bool kernel_has(const Placement& placement) {
  try {
    check(placement, Topology::of_this_host());
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("it needs Linux "));
    return false;
  }
  return true;
}

class PlacementPolicy : public ::testing::TestWithParam<PolicyCase> {};

TEST_P(PlacementPolicy, IsWhatTheKernelThenSays) {
  const PolicyCase& tested = GetParam();
  Placement placement{{}, tested.policy, {}, tested.balancing};
  std::string nodes;
  if (tested.has_node) {
    placement.memory_nodes = {first_node()};
    nodes = ":" + std::to_string(first_node());
  }
  if (!kernel_has(placement)) GTEST_SKIP() << "this kernel has no " << describe(placement);
  const PlacedWorker worker(placement);
  if (proc_file(worker.pid(), "numa_maps").empty()) GTEST_SKIP() << "the kernel has no numa_maps";
  EXPECT_THAT(stack_line(worker.pid()),
              AnyOf(HasSubstr(" " + tested.kernel_word + nodes + " stack"),
                    HasSubstr(" " + tested.later_kernel_word + nodes + " stack")));
  const auto observed = observe(worker.pid());
  ASSERT_TRUE(observed);
  EXPECT_THAT(stack_line(worker.pid()), HasSubstr(" " + observed->policy + " stack"));
  EXPECT_EQ(mismatch(placement, *observed), "");
}

INSTANTIATE_TEST_SUITE_P(
    EachPolicy, PlacementPolicy,
    ::testing::Values(PolicyCase{MemoryPolicy::kBind, true, "bind"},
                      PolicyCase{MemoryPolicy::kPreferred, true, "prefer"},
                      PolicyCase{MemoryPolicy::kInterleave, true, "interleave"},
                      PolicyCase{MemoryPolicy::kPreferredMany, true, "prefer (many)"},
                      PolicyCase{MemoryPolicy::kWeightedInterleave, true, "weighted interleave"},
                      PolicyCase{MemoryPolicy::kBind, true, "bind=", true, "bind=balancing"},
                      PolicyCase{MemoryPolicy::kLocal, false, "local"},
                      PolicyCase{MemoryPolicy::kDefault, false, "default"}),
    [](const auto& info) { return info.param.name(); });

TEST(Placement, IsInheritedByPrograms) {
  CommandOptions options;
  options.placement = {{}, MemoryPolicy::kInterleave, {first_node()}};
  const std::string maps = run_command({"/bin/cat", "/proc/self/numa_maps"}, options).out;
  if (maps.empty()) GTEST_SKIP() << "the kernel has no numa_maps";
  EXPECT_THAT(maps, HasSubstr(" interleave:" + std::to_string(first_node()) + " stack"));
}

TEST(Placement, ThatTheKernelRefusesIsAnError) {
  const Error cpu = error_of([] { apply({{100'000}, MemoryPolicy::kDefault, {}}); });
  EXPECT_EQ(cpu.kind(), ErrorKind::kRun);
  EXPECT_THAT(cpu.what(), HasSubstr("sched_setaffinity to CPUs 100000"));
  const Error node = error_of([] { apply({{}, MemoryPolicy::kBind, {1000}}); });
  EXPECT_EQ(node.kind(), ErrorKind::kRun);
  EXPECT_THAT(node.what(), HasSubstr("set_mempolicy of bind 1000"));
}

TEST(Placement, ThatDidNotHappenIsAMismatch) {
  const PlacedWorker worker({});
  const auto observed = observe(worker.pid());
  ASSERT_TRUE(observed);
  EXPECT_EQ(observed->cpus, own_cpus());
  IdSet others = own_cpus();
  others.insert(100'000);
  EXPECT_THAT(mismatch({others, MemoryPolicy::kDefault, {}}, *observed),
              HasSubstr("runs on CPUs " + format_id_list(own_cpus()) + " instead of"));
  if (observed->policy.empty()) GTEST_SKIP() << "the kernel has no numa_maps";
  EXPECT_EQ(mismatch({{}, MemoryPolicy::kBind, {0}}, *observed),
            "has memory policy default instead of bind:0");
}

TEST(Placement, OfAWiderOrNarrowerCpuSetIsAMismatch) {
  const ObservedPlacement observed{{0, 1, 2}, {0}, ""};
  EXPECT_EQ(mismatch({{0, 1, 2}, MemoryPolicy::kDefault, {}}, observed), "");
  EXPECT_NE(mismatch({{0, 1}, MemoryPolicy::kDefault, {}}, observed), "");
  EXPECT_NE(mismatch({{0, 1, 2, 3}, MemoryPolicy::kDefault, {}}, observed), "");
}

TEST(Placement, PolicyOfAnotherNodeIsAMismatch) {
  const ObservedPlacement observed{{0}, {0, 1}, "bind:1"};
  EXPECT_EQ(mismatch({{}, MemoryPolicy::kBind, {0}}, observed),
            "has memory policy bind:1 instead of bind:0");
  EXPECT_EQ(mismatch({{}, MemoryPolicy::kBind, {1}}, observed), "");
  EXPECT_EQ(mismatch({}, observed), "") << "nothing was asked";
}

TEST(Placement, OfAThreadThatStrayedIsAMismatch) {
  const ObservedPlacement observed{{0, 1}, {0}, "default", {1}};
  EXPECT_EQ(mismatch({{0, 1}, MemoryPolicy::kDefault, {}}, observed),
            "has a thread on CPUs 1 instead of 0-1");
  EXPECT_EQ(describe(observed), "cpus 0-1, default, a thread on cpus 1");
}

// pgbench has many threads, and each has a mask of its own.
TEST(Placement, OfEveryThreadIsRead) {
  const IdSet cpus = own_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU";
  Channel ready;
  const Worker worker = Worker::fork({}, [&]() -> int {
    std::thread stray([&] {
      apply({{*cpus.begin()}, MemoryPolicy::kDefault, {}});
      ready.send('x');
      sleep_for_ever();
    });
    sleep_for_ever();
  });
  ready.receive<char>();
  const auto observed = observe(worker.pid());
  ASSERT_TRUE(observed);
  EXPECT_EQ(observed->cpus, cpus);
  EXPECT_EQ(observed->stray_cpus, IdSet{*cpus.begin()});
  move_to_cpus(worker.pid(), {*cpus.rbegin()});
  const auto moved = observe(worker.pid());
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->cpus, IdSet{*cpus.rbegin()});
  EXPECT_EQ(moved->stray_cpus, IdSet{});
}

// sched_setaffinity leaves out what is not allowed without a word, and so would the log say OK.
TEST(Placement, OfWhichTheKernelTakesOnlyAPartIsAnError) {
  IdSet cpus = own_cpus();
  cpus.insert(1000);
  Channel told;
  const Worker worker = Worker::fork({}, [&]() -> int {
    const Error error = error_of([&] { apply({cpus, MemoryPolicy::kDefault, {}}); });
    const bool says_it =
        error.problem() == fmt::format("sched_setaffinity to CPUs {} gave CPUs {}",
                                       format_id_list(cpus), format_id_list(own_cpus()));
    told.send(says_it);
    sleep_for_ever();
  });
  EXPECT_TRUE(told.receive<bool>());
}

TEST(Placement, OfAProcessThatIsGoneIsNothing) {
  pid_t pid = 0;
  {
    const PlacedWorker worker({});
    pid = worker.pid();
  }
  EXPECT_EQ(observe(pid), std::nullopt);
}

// What follows is refused at plan time. Rows of REQUIREMENTS part B in brackets.

class PlacementCheck : public ::testing::Test {
 protected:
  static std::string refusal(const Placement& placement, const Topology& topology) {
    const Error error = error_of([&] { check(placement, topology); });
    EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
    return error.what();
  }
  static std::string bind_refusal(int node, const Topology& topology) {
    return refusal({{}, MemoryPolicy::kBind, {node}}, topology);
  }
  static Topology guest(const std::string& name) {
    return Topology::of_xml_file(kData + "guest-" + name + ".xml");
  }
};

TEST_F(PlacementCheck, AcceptsWhatIsThere) {
  const Topology topology = guest("2node");
  check({}, topology);
  check({{0, 3}, MemoryPolicy::kBind, {0, 1}}, topology);
  check({{}, MemoryPolicy::kPreferred, {1}}, topology);
  check({{}, MemoryPolicy::kLocal, {}}, topology);
}

TEST_F(PlacementCheck, RefusesACpuThatIsNotThere) {
  const std::string text = refusal({{0, 4}, MemoryPolicy::kDefault, {}}, guest("2node"));
  EXPECT_EQ(text, "there is no CPU 4; allowed CPUs: 0-3");
}

TEST_F(PlacementCheck, RefusesANodeWithoutMemoryAndNamesTheNearest) {  // [1] [2] [4]
  const std::string text = bind_refusal(0, guest("cpuonly-first"));
  EXPECT_EQ(text, "node 0 has no memory; allowed nodes with memory: 1-2, the nearest is 1");
}

TEST_F(PlacementCheck, RefusesAnEmptyNodeAmongOthers) {  // [4]
  EXPECT_THAT(refusal({{}, MemoryPolicy::kInterleave, {0, 1, 2}}, guest("cpuonly-first")),
              HasSubstr("node 0 has no memory"));
}

TEST_F(PlacementCheck, AcceptsMemoryWithoutCpus) {  // [8]
  check({{}, MemoryPolicy::kBind, {2}}, guest("memonly-tie"));
}

TEST_F(PlacementCheck, TreatsAHoleAsANodeThatIsNotThere) {
  const Topology topology = guest("gap-0-2");
  EXPECT_EQ(bind_refusal(1, topology), "there is no node 1; allowed nodes with memory: 0,2");
  EXPECT_EQ(bind_refusal(3, topology), "there is no node 3; allowed nodes with memory: 0,2");
}

TEST_F(PlacementCheck, RefusesTheSecondNodeOfAOneNodeHost) {  // [10]
  const Topology topology = Topology::of_synthetic("numa:1 core:4 pu:1");
  EXPECT_EQ(bind_refusal(1, topology), "there is no node 1; allowed nodes with memory: 0");
}

TEST_F(PlacementCheck, CpusOfANodeWithoutCpusNamesThoseThatHaveSome) {  // [3]
  const Topology topology = guest("memonly-tie");
  EXPECT_EQ(cpus_of_nodes({0, 1}, topology), (IdSet{0, 1, 2, 3}));
  const Error error = error_of([&] { cpus_of_nodes({0, 2}, topology); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_STREQ(error.what(), "node 2 has no CPUs; nodes with CPUs: 0-1");
  EXPECT_THAT(error_of([&] { cpus_of_nodes({7}, topology); }).what(),
              HasSubstr("there is no node 7"));
}

TEST_F(PlacementCheck, ResolvesWhatNumactlUnderstands) {
  const Topology topology = guest("gap-0-2");  // nodes 0 and 2
  const auto memory = [&](const char* text) {
    return resolve_memory_nodes(*parse_id_expression(text), topology);
  };
  EXPECT_EQ(memory("all"), (IdSet{0, 2}));
  EXPECT_EQ(memory("+1"), IdSet{2}) << "the second allowed one, whatever its number";
  EXPECT_EQ(memory("!0"), IdSet{2});
  EXPECT_EQ(memory("!+1"), IdSet{0});
  EXPECT_EQ(memory("0,2"), (IdSet{0, 2}));
  const Topology two = guest("2node");
  EXPECT_EQ(resolve_cpus(*parse_id_expression("!1-2"), two), (IdSet{0, 3}));
  EXPECT_EQ(resolve_cpus(*parse_id_expression("+3"), two), IdSet{3});
  EXPECT_EQ(resolve_cpu_nodes(*parse_id_expression("!0"), two), IdSet{1});
}

TEST_F(PlacementCheck, RefusesIdsInAnyNotation) {  // a hole is as absent as a number past the end
  const Topology topology = guest("gap-0-2");
  const auto refusal_of = [&](const char* text) {
    const Error error =
        error_of([&] { resolve_memory_nodes(*parse_id_expression(text), topology); });
    EXPECT_EQ(error.kind(), ErrorKind::kPreflight) << text;
    return std::string(error.what());
  };
  EXPECT_EQ(refusal_of("1"), "there is no node 1; allowed nodes with memory: 0,2");
  EXPECT_EQ(refusal_of("3"), "there is no node 3; allowed nodes with memory: 0,2");
  EXPECT_EQ(refusal_of("!1"), "there is no node 1; allowed nodes with memory: 0,2");
  EXPECT_EQ(refusal_of("+2"),
            "there is no node with memory +2; of the 2 allowed (0,2) + counts from 0");
  EXPECT_EQ(refusal_of("!0,2"), "! leaves no node with memory; allowed: 0,2");
}

TEST_F(PlacementCheck, SaysWhereMemoryComesFromWithoutANodeOfItsOwn) {  // [1] [2]
  const Topology topology = guest("cpuonly-first");
  const IdSet cpus = cpus_of_nodes({0}, topology);
  const auto notes = placement_notes({cpus, MemoryPolicy::kDefault, {}}, topology);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "node 0 has no memory: that of CPUs " + format_id_list(cpus) +
                          " comes from node 1, the nearest with some");
  EXPECT_TRUE(placement_notes({cpus, MemoryPolicy::kBind, {1}}, topology).empty());
}

TEST_F(PlacementCheck, SaysWhichNodesAnInterleaveLeavesOut) {  // [4]
  const Topology topology = guest("cpuonly-first");
  const IdSet all = resolve_memory_nodes(*parse_id_expression("all"), topology);
  const auto notes = placement_notes({{}, MemoryPolicy::kInterleave, all}, topology);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "interleave:1-2 leaves out node 0, without memory");
  EXPECT_TRUE(placement_notes({{}, MemoryPolicy::kInterleave, {0, 1}}, guest("2node")).empty());
}

TEST_F(PlacementCheck, RefusesBalancingOfMemoryThatIsNotBound) {
  const Topology topology = guest("2node");
  check({{}, MemoryPolicy::kBind, {0, 1}, true}, topology);
  EXPECT_THAT(refusal({{}, MemoryPolicy::kInterleave, {0, 1}, true}, topology),
              HasSubstr("bound memory only"));
}

// [14] A host with a GPU that can be cut into parts has dozens of nodes with nothing in them.
TEST_F(PlacementCheck, IgnoresEmptyNodesInAll) {
  const Topology topology = guest("cpuonly-first");
  EXPECT_EQ(resolve_memory_nodes(*parse_id_expression("all"), topology), topology.allowed_nodes());
  EXPECT_EQ(resolve_cpu_nodes(*parse_id_expression("all"), topology), topology.nodes_with_cpus());
}

TEST_F(PlacementCheck, RefusesPoliciesWithTheWrongNumberOfNodes) {
  const Topology topology = guest("2node");
  refusal({{}, MemoryPolicy::kBind, {}}, topology);
  refusal({{}, MemoryPolicy::kInterleave, {}}, topology);
  refusal({{}, MemoryPolicy::kPreferred, {}}, topology);
  refusal({{}, MemoryPolicy::kPreferred, {0, 1}}, topology);
  refusal({{}, MemoryPolicy::kLocal, {0}}, topology);
}

// [9] A batch system's cpuset, played by our own affinity mask: this process may use one CPU only.
TEST_F(PlacementCheck, RefusesCpusOutsideTheAllowedSet) {
  const std::string xml = [] {
    std::string text = guest("2node").xml();
    const std::string all = "allowed_cpuset=\"0x0000000f\"";
    return text.replace(text.find(all), all.size(), "allowed_cpuset=\"0x00000003\"");
  }();
  const std::string path = ::testing::TempDir() + "/restricted.xml";
  std::ofstream(path) << xml;
  const Topology topology = Topology::of_xml_file(path);
  EXPECT_EQ(refusal({{1, 2}, MemoryPolicy::kDefault, {}}, topology),
            "CPU 2 is not allowed for this process (cpuset); allowed CPUs: 0-1");
  EXPECT_EQ(cpus_of_nodes({0}, topology), (IdSet{0, 1}));
  EXPECT_STREQ(error_of([&] { cpus_of_nodes({1}, topology); }).what(),
               "no CPU of node 1 is allowed for this process; nodes with CPUs: 0");
}

// [5] On this host the policy calls themselves are tried.
TEST_F(PlacementCheck, TriesThePolicyCallsOfThisHost) {
  const Topology topology = Topology::of_this_host();
  const int node = *topology.allowed_nodes().begin();
  check({topology.allowed_cpus(), MemoryPolicy::kBind, {node}}, topology);
  EXPECT_THAT(stack_line(::getpid()), ::testing::Not(HasSubstr("bind"))) << "and nothing changed";
}

}  // namespace
}  // namespace numabench
