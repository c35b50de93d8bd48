#include "hosts/topology.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "hosts/process.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/kernel_view.h"
#include "tests/hosts/temporary_directory.h"
#include "tests/paths.h"

namespace numabench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kGuests = source_dir() + "/tests/hosts/data/";
// Other people's machines: read where they lie, never copied into the project.
const std::string kReal = source_dir() + "/../shared/topologies/real/";

Topology guest(const std::string& name) {
  return Topology::of_xml_file(kGuests + "guest-" + name + ".xml");
}

std::string text_of(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// What the XML says, read as text: no hwloc between the file and the expectation.
struct XmlFacts {
  int cpus = 0;
  int cores = 0;
  int packages = 0;
  std::map<int, std::uint64_t> memory_by_node;
  std::map<std::pair<int, int>, int> distances;
};

std::vector<int> numbers_in(const std::string& text, const std::string& element) {
  std::vector<int> numbers;
  const std::regex lines("<" + element + " length=\"[0-9]+\">([0-9 ]*)</");
  for (std::sregex_iterator it(text.begin(), text.end(), lines), end; it != end; ++it) {
    std::istringstream words((*it)[1]);
    for (int number = 0; words >> number;) numbers.push_back(number);
  }
  return numbers;
}

void read_distances(const std::string& xml, XmlFacts& facts) {
  const auto start = xml.find("<distances2 type=\"NUMANode\"");
  if (start == std::string::npos) return;
  const std::string matrix = xml.substr(start, xml.find("</distances2>", start) - start);
  const std::vector<int> ids = numbers_in(matrix, "indexes");
  const std::vector<int> values = numbers_in(matrix, "u64values");
  ASSERT_EQ(values.size(), ids.size() * ids.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    facts.distances[{ids[i / ids.size()], ids[i % ids.size()]}] = values[i];
  }
}

XmlFacts read_xml(const std::string& path) {
  const std::string xml = text_of(path);
  XmlFacts facts;
  const std::regex objects("<object type=\"(PU|Core|Package|NUMANode)\"([^>]*)>");
  const std::regex id(" os_index=\"([0-9]+)\"");
  const std::regex memory(" local_memory=\"([0-9]+)\"");
  for (std::sregex_iterator it(xml.begin(), xml.end(), objects), end; it != end; ++it) {
    const std::string type = (*it)[1], attributes = (*it)[2];
    if (type == "PU") ++facts.cpus;
    if (type == "Core") ++facts.cores;
    if (type == "Package") ++facts.packages;
    std::smatch match;
    if (type != "NUMANode" || !std::regex_search(attributes, match, id)) continue;
    std::uint64_t& bytes = facts.memory_by_node[std::stoi(match[1])];
    if (std::regex_search(attributes, match, memory)) bytes = std::stoull(match[1]);
  }
  read_distances(xml, facts);
  return facts;
}

class TopologyOfXml : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(GetParam())) GTEST_SKIP() << "no " << GetParam();
  }
};

TEST_P(TopologyOfXml, HasWhatTheFileSays) {
  const Topology topology = Topology::of_xml_file(GetParam());
  const XmlFacts facts = read_xml(GetParam());
  EXPECT_FALSE(topology.is_this_host());
  EXPECT_EQ(topology.source(), GetParam());
  EXPECT_EQ(topology.cpus().size(), static_cast<std::size_t>(facts.cpus));
  EXPECT_EQ(topology.cores(), facts.cores == 0 ? facts.cpus : facts.cores);
  EXPECT_EQ(topology.packages(), std::max(facts.packages, 1));
  std::map<int, std::uint64_t> memory_by_node;
  for (const Node& node : topology.nodes()) memory_by_node[node.id] = node.memory_bytes;
  EXPECT_EQ(memory_by_node, facts.memory_by_node);
  for (const auto& [from, from_memory] : memory_by_node) {
    for (const auto& [to, to_memory] : memory_by_node) {
      const auto given = facts.distances.find({from, to});
      EXPECT_EQ(topology.distance(from, to), given == facts.distances.end() ? 0 : given->second)
          << from << " to " << to;
    }
  }
}

// hwloc's own program is the second opinion on which CPUs a node has.
TEST_P(TopologyOfXml, GivesEachNodeTheCpusThatHwlocCalcGivesIt) {
  const Topology topology = Topology::of_xml_file(GetParam());
  for (const Node& node : topology.nodes()) {
    CommandResult result;
    try {
      result = run_command({"hwloc-calc", "-i", GetParam(), "--disallowed", "-p", "-I", "PU",
                            fmt::format("numa:{}", node.id)});
    } catch (const Error&) {
      GTEST_SKIP() << "no hwloc-calc (package hwloc-nox)";
    }
    ASSERT_TRUE(result.ok()) << result.err;
    const auto cpus = parse_id_list(result.out.substr(0, result.out.find('\n')));
    EXPECT_EQ(node.cpus.empty() ? node.near_cpus : node.cpus, cpus) << "node " << node.id;
  }
}

TEST_P(TopologyOfXml, AgreesWithItself) {
  const Topology topology = Topology::of_xml_file(GetParam());
  for (const Cpu& cpu : topology.cpus()) {
    EXPECT_EQ(topology.node_of_cpu(cpu.id), cpu.node);
    EXPECT_LT(cpu.core, topology.cores());
    EXPECT_LT(cpu.package, topology.packages());
    if (cpu.node < 0) continue;
    const auto node = std::find_if(topology.nodes().begin(), topology.nodes().end(),
                                   [&](const Node& other) { return other.id == cpu.node; });
    ASSERT_NE(node, topology.nodes().end());
    EXPECT_TRUE(node->cpus.contains(cpu.id));
  }
}

TEST_P(TopologyOfXml, SurvivesTheResultsStore) {
  const Topology topology = Topology::of_xml_file(GetParam());
  const TemporaryDirectory directory;
  const Topology again = Topology::of_xml_file(directory.write("host.xml", topology.xml()));
  std::string text = format_topology(topology), text_again = format_topology(again);
  text.erase(0, topology.source().size());
  text_again.erase(0, again.source().size());
  EXPECT_EQ(text_again, text);
}

std::vector<std::string> below(const std::string& directory, std::vector<std::string> names) {
  for (std::string& name : names) name = directory + name + ".xml";
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  const std::string stem = std::filesystem::path(info.param).stem();
  return std::regex_replace(stem, std::regex("[^A-Za-z0-9]"), "_");
}

INSTANTIATE_TEST_SUITE_P(Guests, TopologyOfXml,
                         ::testing::ValuesIn(below(
                             kGuests, {"guest-1node", "guest-2node", "guest-4asym", "guest-4ring",
                                       "guest-8node", "guest-cpuonly-first", "guest-cpuonly-last",
                                       "guest-gap-0-2", "guest-maxcpus", "guest-memonly-near0-hmat",
                                       "guest-memonly-tie", "guest-numafake4", "guest-smt",
                                       "guest-snc3-dies", "guest-snc3-groups"})),
                         test_name);

INSTANTIATE_TEST_SUITE_P(
    Real, TopologyOfXml,
    ::testing::ValuesIn(
        below(kReal,
              {"cxlmem+dax.v2", "16amd64-4distances", "16amd64-8n2c-cpusets",
               "16em64t-4s2c2t-offlines", "192em64t-12gr2n8c2t",
               "28intel64-2p2g7c-CoDgroups.v1tov2", "64intel64-3g2n+2n-irregulargroups+pci",
               "64intel64-fakeKNL-SNC4-hybrid", "8ia64-2n2s2c+1n.v1tov2", "8intel64-4n2t-memattrs",
               "8intel64-fakeKNL-A2A-hybrid.rootattachednumas", "memorysidecaches", "nvidiaDGX2"})),
    test_name);

TEST(Topology, KeepsTheNodeWithoutMemory) {
  const Topology topology = guest("cpuonly-first");
  EXPECT_EQ(topology.nodes_with_cpus(), (IdSet{0, 1, 2}));
  EXPECT_EQ(topology.allowed_nodes(), (IdSet{1, 2}));
  EXPECT_EQ(topology.cpus_of_node(0), (IdSet{0, 1}));
  EXPECT_EQ(topology.node_of_cpu(0), 0);
  EXPECT_FALSE(topology.nodes().front().allowed);
  EXPECT_THAT(topology.warnings(),
              ElementsAre("node 0 without memory: no memory can be bound there"));
}

TEST(Topology, KeepsTheNodeWithoutCpus) {
  const Topology topology = guest("memonly-tie");
  EXPECT_EQ(topology.nodes_with_cpus(), (IdSet{0, 1}));
  EXPECT_EQ(topology.allowed_nodes(), (IdSet{0, 1, 2}));
  EXPECT_THAT(topology.cpus_of_node(2), IsEmpty());
  EXPECT_THAT(topology.warnings(),
              ElementsAre("node 2 without CPUs: no process can be bound there"));
}

// hwloc counts the CPUs of node 0 to the memory-only node beside it; they stay the CPUs of node 0.
TEST(Topology, CpusBelongToTheirOwnNodeNotToMemoryNearby) {
  const Topology topology = guest("memonly-near0-hmat");
  EXPECT_EQ(topology.node_of_cpu(0), 0);
  EXPECT_EQ(topology.node_of_cpu(1), 0);
  EXPECT_EQ(topology.node_of_cpu(2), 1);
  EXPECT_EQ(topology.nodes_with_cpus(), (IdSet{0, 1}));
  EXPECT_EQ(topology.nodes().back().near_cpus, (IdSet{0, 1}));
  EXPECT_THAT(topology.warnings(),
              ElementsAre("node 2 without CPUs: no process can be bound there"));
}

// ACPI's HMAT of this guest: 80 ns and 100 GiB/s to one's own memory, 136 ns and 58 GiB/s to
// node 2.
TEST(Topology, KnowsWhatThePlatformSaysOfTheWayToMemory) {
  const Topology topology = guest("memonly-near0-hmat");
  std::map<std::pair<int, IdSet>, std::uint64_t> latency;
  for (const MemoryAttribute& attribute : topology.memory_attributes()) {
    if (attribute.name == "Latency") latency[{attribute.node, attribute.cpus}] = attribute.value;
  }
  EXPECT_EQ(latency, (std::map<std::pair<int, IdSet>, std::uint64_t>{
                         {{0, {0, 1}}, 80}, {{1, {2, 3}}, 80}, {{2, {0, 1}}, 136}}));
  EXPECT_THAT(guest("2node").memory_attributes(), IsEmpty());
}

TEST(Topology, TellsDiesFromPackages) {
  const Topology dies = guest("snc3-dies");
  EXPECT_EQ(dies.packages(), 2);
  EXPECT_EQ(dies.dies(), 6);
  for (const Cpu& cpu : dies.cpus()) EXPECT_EQ(cpu.die, cpu.id / 2) << cpu.id;
  EXPECT_EQ(guest("snc3-groups").dies(), 0);
  EXPECT_EQ(guest("snc3-groups").cpus().front().die, -1);
}

TEST(Topology, KnowsAHoleInTheIds) {
  const Topology topology = guest("gap-0-2");
  EXPECT_EQ(topology.allowed_nodes(), (IdSet{0, 2}));
  EXPECT_EQ(topology.distance(0, 2), 21);
  EXPECT_EQ(topology.distance(0, 1), 0) << "there is no node 1";
  EXPECT_THAT(topology.cpus_of_node(1), IsEmpty());
  EXPECT_EQ(topology.node_of_cpu(99), -1);
  for (const std::string& warning : topology.warnings()) {
    EXPECT_THAT(warning, ::testing::Not(HasSubstr("node 1"))) << "a hole is nothing to warn of";
  }
}

TEST(Topology, KeepsAsymmetricDistancesTheRightWayRound) {
  const Topology topology = guest("4asym");
  EXPECT_EQ(topology.distance(0, 1), 16);
  EXPECT_EQ(topology.distance(1, 0), 20);
}

TEST(Topology, SeesThreeNodesInAPackage) {
  const Topology topology = guest("snc3-groups");
  EXPECT_EQ(topology.packages(), 2);
  EXPECT_EQ(topology.nodes().size(), 6u);
  for (const Cpu& cpu : topology.cpus()) EXPECT_EQ(cpu.package, cpu.id / 6) << cpu.id;
}

TEST(Topology, KnowsCoresFromThreads) {
  const Topology topology = guest("smt");
  EXPECT_EQ(topology.cores(), 4);
  EXPECT_EQ(topology.cpus().size(), 8u);
  std::map<int, int> threads;
  for (const Cpu& cpu : topology.cpus()) ++threads[cpu.core];
  for (const auto& [core, count] : threads) EXPECT_EQ(count, 2) << "core " << core;
}

TEST(Topology, MarksWhatIsNotAllowed) {
  const std::string path = kReal + "64intel64-3g2n+2n-irregulargroups+pci.xml";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const Topology topology = Topology::of_xml_file(path);
  EXPECT_EQ(topology.nodes().size(), 8u);
  EXPECT_EQ(topology.allowed_nodes(), (IdSet{0, 1}));
  EXPECT_EQ(format_id_list(topology.allowed_cpus()), "0-15");
  EXPECT_EQ(topology.nodes_with_cpus(), (IdSet{0, 1})) << "only nodes with CPUs we may use";
  EXPECT_THAT(topology.cpus_of_node(2), IsEmpty());
  std::uint64_t allowed_memory = 0;
  for (const Node& node : topology.nodes()) {
    if (node.id < 2) allowed_memory += node.memory_bytes;
  }
  EXPECT_EQ(topology.memory_bytes(), allowed_memory);
  EXPECT_THAT(topology.warnings(), Contains(HasSubstr("nodes 2-7 not allowed")));
}

TEST(Topology, SaysWhichCpusAreInNoNode) {
  const std::string path = kReal + "16amd64-8n2c-cpusets.xml";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const Topology topology = Topology::of_xml_file(path);
  EXPECT_EQ(topology.node_of_cpu(12), -1);
  EXPECT_THAT(topology.warnings(), Contains(HasSubstr("CPUs 0-1,12-15 in no node")));
}

TEST(Topology, OfASyntheticDescription) {
  const Topology topology = Topology::of_synthetic("pack:2 [numa(memory=64GiB)] core:4 pu:2");
  EXPECT_FALSE(topology.is_this_host());
  EXPECT_EQ(topology.packages(), 2);
  EXPECT_EQ(topology.cores(), 8);
  EXPECT_EQ(topology.cpus().size(), 16u);
  EXPECT_EQ(topology.allowed_nodes(), (IdSet{0, 1}));
  EXPECT_EQ(format_id_list(topology.cpus_of_node(1)), "8-15");
  EXPECT_EQ(topology.memory_bytes(), 128ull << 30);
  EXPECT_THAT(topology.warnings(), IsEmpty());
}

TEST(Topology, RefusesABadSyntheticDescription) {
  for (const char* description : {"", "pack:2 bogus", "pack:0", "pack:2 [numa(memory=x)", "four"}) {
    const Error error = error_of([&] { Topology::of_synthetic(description); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << description;
  }
}

TEST(Topology, RefusesAFileThatIsNotThereOrNotXml) {
  const Error absent = error_of([] { Topology::of_xml_file("/no/such/file.xml"); });
  EXPECT_EQ(absent.kind(), ErrorKind::kUsage);
  EXPECT_THAT(absent.what(), HasSubstr("No such file"));
  const TemporaryDirectory directory;
  const Error bad = error_of([&] { Topology::of_xml_file(directory.write("bad.xml", "<a>")); });
  EXPECT_EQ(bad.kind(), ErrorKind::kUsage);
  EXPECT_THAT(bad.what(), HasSubstr("lstopo"));
}

std::string sys_node(const std::string& file) {
  std::string line;
  std::ifstream stream("/sys/devices/system/node/" + file);
  std::getline(stream, line);
  return line;
}

TEST(TopologyOfThisHost, HasTheKernelsCpus) {
  const Topology topology = Topology::of_this_host();
  EXPECT_TRUE(topology.is_this_host());
  std::ifstream online("/sys/devices/system/cpu/online");
  std::string expected;
  std::getline(online, expected);
  IdSet ids;
  for (const Cpu& cpu : topology.cpus()) ids.insert(cpu.id);
  EXPECT_EQ(format_id_list(ids), expected);
}

TEST(TopologyOfThisHost, HasTheKernelsNodes) {
  if (sys_node("online").empty()) GTEST_SKIP() << "no /sys/devices/system/node";
  const Topology topology = Topology::of_this_host();
  IdSet ids;
  for (const Node& node : topology.nodes()) ids.insert(node.id);
  EXPECT_EQ(format_id_list(ids), sys_node("online"));
  for (const Node& node : topology.nodes()) {
    const std::string directory = fmt::format("node{}/", node.id);
    EXPECT_EQ(format_id_list(node.cpus), sys_node(directory + "cpulist"));
    std::istringstream memory(sys_node(directory + "meminfo"));  // "Node 0 MemTotal: 7170260 kB"
    std::string word;
    std::uint64_t kilobytes = 0;
    memory >> word >> word >> word >> kilobytes;
    EXPECT_EQ(node.memory_bytes, kilobytes * 1024);
    std::istringstream distances(sys_node(directory + "distance"));
    for (const int to : ids) {
      int distance = 0;
      distances >> distance;
      EXPECT_EQ(topology.distance(node.id, to), distance);
    }
  }
}

TEST(TopologyOfThisHost, WarnsOfAnInheritedAffinity) {
  const Topology topology = Topology::of_this_host();
  if (topology.allowed_cpus().size() < 2) GTEST_SKIP() << "needs two CPUs";
  const int cpu = *topology.allowed_cpus().rbegin();
  Worker worker = Worker::fork({{cpu}, MemoryPolicy::kDefault, {}}, [&] {
    const Topology pinned = Topology::of_this_host();
    const std::string expected = fmt::format("started on CPUs {} only", cpu);
    const auto& warnings = pinned.warnings();
    const bool warned = std::any_of(warnings.begin(), warnings.end(), [&](const std::string& text) {
      return text.starts_with(expected);
    });
    return warned && pinned.allowed_cpus() == topology.allowed_cpus() ? 0 : 1;
  });
  EXPECT_TRUE(worker.wait(std::chrono::seconds(60)).ok());
}

// On a machine of the environment every binding would succeed and do nothing.
TEST(TopologyOfThisHost, IsNotReplacedByTheEnvironment) {
  ::setenv("HWLOC_SYNTHETIC", "numa:4 core:2 pu:1", 1);
  const Error error = error_of([] { Topology::of_this_host(); });
  ::unsetenv("HWLOC_SYNTHETIC");
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("unset HWLOC_XMLFILE"));
}

TEST(FormatTopology, ShowsARowANodeAndTheDistances) {
  EXPECT_THAT(format_topology(guest("gap-0-2")), HasSubstr("1 package, 2 cores, 2 CPUs, 2 nodes"));
  EXPECT_THAT(format_topology(guest("gap-0-2")),
              HasSubstr("node  package  memory   allowed  cpus\n"
                        "0     0        710 MiB  yes      0-1\n"
                        "2     -        504 MiB  yes      none\n"
                        "\n"
                        "distance    0    2\n"
                        "       0   10   21\n"
                        "       2   21   10\n"
                        "\n"
                        "warning: node 2 without CPUs: no process can be bound there\n"));
}

TEST(FormatTopology, IsReadableAt384Cpus) {
  const std::string text =
      format_topology(Topology::of_synthetic("pack:8 [numa(memory=128GiB)] core:24 pu:2"));
  EXPECT_THAT(text, HasSubstr("8 packages, 192 cores, 384 CPUs, 8 nodes, 1 TiB\n"));
  EXPECT_THAT(text, HasSubstr("distances: the firmware gives none"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

}  // namespace
}  // namespace numabench
