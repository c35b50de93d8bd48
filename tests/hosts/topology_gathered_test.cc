// Folders of hwloc-gather-topology, in which hwloc and the kernel's own files can be held against
// each other. Other people's machines: read where they lie, never copied into the project.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "hosts/error.h"
#include "hosts/files.h"
#include "hosts/placement.h"
#include "hosts/process.h"
#include "hosts/topology.h"
#include "tests/hosts/contradicting_host.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/temporary_directory.h"
#include "tests/paths.h"

namespace numabench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kReal = source_dir() + "/../shared/topologies/real/";

IdSet ids(const std::string& list) { return parse_id_list(list).value(); }

IdSet node_ids(const Topology& topology) {
  IdSet ids;
  for (const Node& node : topology.nodes()) ids.insert(node.id);
  return ids;
}

// Unpacks the archive `name` below `directory`; the folder with its sys/.
std::optional<std::string> unpack(const std::string& name, const TemporaryDirectory& directory) {
  const std::string archive = kReal + name + ".tar.bz2";
  if (!std::filesystem::exists(archive)) return std::nullopt;
  const std::string target = directory.path() + "/" + name;
  std::filesystem::create_directory(target);
  try {
    if (!run_command({"tar", "-xjf", archive, "-C", target}).ok()) return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
  for (const auto& entry : std::filesystem::directory_iterator(target)) {
    if (std::filesystem::is_directory(entry.path() / "sys")) return entry.path();
  }
  return std::nullopt;
}

// What the archives' README says of each machine.
struct Machine {
  std::string name;
  int packages;
  std::size_t cpus;
  std::string nodes;
  std::string memory_nodes;  ///< on which a placement may be
  std::string cpu_nodes;
};

std::ostream& operator<<(std::ostream& stream, const Machine& machine) {
  return stream << machine.name;
}

void expect_the_kernels_memory_and_distances(const Topology& topology, const std::string& folder) {
  for (const Node& node : topology.nodes()) {
    const std::string files = fmt::format("{}/sys/devices/system/node/node{}/", folder, node.id);
    std::istringstream memory(read_text_file(files + "meminfo").value_or(""));
    std::string word;
    std::uint64_t kilobytes = 0;
    memory >> word >> word >> word >> kilobytes;  // "Node 0 MemTotal: 7170260 kB"
    EXPECT_EQ(node.memory_bytes, kilobytes * 1024) << node.id;
    std::istringstream distances(read_text_file(files + "distance").value_or(""));
    for (const Node& to : topology.nodes()) {
      int distance = 0;
      distances >> distance;
      EXPECT_EQ(topology.distance(node.id, to.id), distance) << node.id << " to " << to.id;
    }
  }
}

// "0x000000ff,0x00000000": words of 32 bits, the lowest last; an empty word is 0.
IdSet cpus_of_bitmap(const std::string& bitmap) {
  std::vector<std::string> words;
  std::istringstream stream(bitmap);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  IdSet cpus;
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string& word = words[words.size() - 1 - index];
    const unsigned long bits = word.empty() ? 0 : std::stoul(word, nullptr, 16);
    for (unsigned bit = 0; bit < 32; ++bit) {
      if ((bits >> bit & 1) != 0) cpus.insert(static_cast<int>(32 * index + bit));
    }
  }
  return cpus;
}

// hwloc's own program is the second opinion on which CPUs a node has, or is near.
void expect_the_cpus_that_lstopo_gives(const Topology& topology, const std::string& folder) {
  CommandOptions options;
  options.environment = {
      {"HWLOC_FSROOT", folder}, {"HWLOC_COMPONENTS", "linux,stop"}, {"HWLOC_THISSYSTEM", "0"}};
  options.output_limit_bytes = 8 << 20;
  CommandResult lstopo;
  try {
    lstopo = run_command({"lstopo-no-graphics", "--disallowed", "--of", "xml", "-"}, options);
  } catch (const Error&) {
    return;  // no package hwloc-nox
  }
  ASSERT_TRUE(lstopo.ok()) << lstopo.err;
  std::map<int, IdSet> theirs;
  const std::regex nodes("<object type=\"NUMANode\" os_index=\"([0-9]+)\" cpuset=\"([^\"]*)\"");
  for (std::sregex_iterator it(lstopo.out.begin(), lstopo.out.end(), nodes), end; it != end; ++it) {
    theirs[std::stoi((*it)[1])] = cpus_of_bitmap((*it)[2]);
  }
  for (const Node& node : topology.nodes()) {
    if (node.kind == "GPU memory") continue;
    EXPECT_EQ(node.cpus.empty() ? node.near_cpus : node.cpus, theirs[node.id]) << node.id;
  }
}

class TopologyOfGatheredFolder : public ::testing::TestWithParam<Machine> {};

TEST_P(TopologyOfGatheredFolder, IsTheMachineItWasMadeOf) {
  const TemporaryDirectory directory;
  const auto folder = unpack(GetParam().name, directory);
  if (!folder) GTEST_SKIP() << "no " << kReal << GetParam().name << ".tar.bz2, or no bzip2";
  const Topology topology = Topology::of_gathered_folder(*folder);
  EXPECT_FALSE(topology.is_this_host());
  EXPECT_EQ(topology.packages(), GetParam().packages);
  EXPECT_EQ(topology.cpus().size(), GetParam().cpus);
  EXPECT_EQ(format_id_list(node_ids(topology)), GetParam().nodes);
  EXPECT_EQ(format_id_list(topology.allowed_nodes()), GetParam().memory_nodes);
  EXPECT_EQ(format_id_list(topology.nodes_with_cpus()), GetParam().cpu_nodes);
  expect_the_kernels_memory_and_distances(topology, *folder);
  if (topology.numa_defect().empty()) expect_the_cpus_that_lstopo_gives(topology, *folder);
}

INSTANTIATE_TEST_SUITE_P(
    Real, TopologyOfGatheredFolder,
    ::testing::Values(Machine{"128arm-2pa2n8cluster4co", 2, 128, "0-3", "0-3", "0-3"},
                      Machine{"128ia64-17n4s2c", 64, 128, "0-16", "0-16", "0-15"},
                      Machine{"256ia64-64n2s2c", 128, 256, "0-63", "0-63", "0-63"},
                      Machine{"256ppc-8n8s4t", 64, 256, "0-1,4-5,8-9,12-13", "0-1,4-5,8-9,12-13",
                              "0-1,4-5,8-9,12-13"},
                      Machine{"2amd64-2n", 2, 2, "0-1", "0-1", "0-1"},
                      Machine{"32amd64-4s2n4c-cgroup2", 4, 32, "0-7", "0-5", "0-1"},
                      Machine{"48amd64-4d2n6c-sparse", 4, 48, "0-2,33-34,45,72-73",
                              "0-2,33-34,45,72-73", "0-2,33-34,45,72-73"},
                      Machine{"64intel64-fakeKNL-A2A-cache", 1, 64, "0", "0", "0"},
                      Machine{"64intel64-fakeKNL-SNC4-hybrid", 1, 64, "0-7", "0-7", "0-3"},
                      Machine{"8em64t-2s2ca2c-buggynuma", 2, 8, "0-7", "0-7", "0-7"},
                      Machine{"fakecpuid1f-64intel64-2p4d2n2c2t", 4, 64, "0-15", "0-15", "0-15"},
                      Machine{"fakeheteromemtiers", 1, 6, "0-2,4,6,8-9", "0-2,4,6,8-9", "0-2"},
                      Machine{"fakememinitiators-1np2c+1npp+gi", 2, 8, "0-10", "5-10", "0-3"},
                      Machine{"memorysidecaches", 2, 80, "0-3", "0-3", "0-3"},
                      Machine{"nvidiagpunumanodes", 2, 32, "0,8,250-255", "0,8", "0,8"},
                      Machine{"offline-cpu0-node0", 2, 17, "1", "1", "1"}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
      return name;
    });

// A test of one machine alone, skipped where its archive is absent.
class GatheredMachine : public ::testing::Test {
 protected:
  std::optional<Topology> machine(const std::string& name) {
    const auto folder = unpack(name, directory_);
    if (!folder) return std::nullopt;
    return Topology::of_gathered_folder(*folder);
  }
  TemporaryDirectory directory_;
};

TEST_F(GatheredMachine, WhoseTablesContradictEachOtherHasADefect) {
  const auto buggy = machine("8em64t-2s2ca2c-buggynuma");
  if (!buggy) GTEST_SKIP();
  EXPECT_THAT(buggy->numa_defect(), HasSubstr("contradict each other (nodes 0-7 share CPUs)"));
  EXPECT_THAT(buggy->warnings(), Contains(HasSubstr("hwloc leaves out nodes 1-7")));
  const auto sound = machine("48amd64-4d2n6c-sparse");
  ASSERT_TRUE(sound);
  EXPECT_THAT(sound->numa_defect(), IsEmpty());
  EXPECT_THAT(sound->warnings(), IsEmpty());
}

// The same fault made up, for tests that must not depend on an archive.
TEST(ContradictingHost, HasADefect) {
  const Topology host = contradicting_host();
  EXPECT_THAT(host.numa_defect(), HasSubstr("contradict each other (nodes 0-1 share CPUs)"));
  EXPECT_EQ(host.allowed_cpus(), ids("0-1"));
  EXPECT_EQ(error_of([&] { resolve_cpu_nodes(*parse_id_expression("0"), host); }).kind(),
            ErrorKind::kPreflight);
}

TEST_F(GatheredMachine, WithGpusListsTheirMemoryAndPlacesNothingThere) {
  const auto power9 = machine("nvidiagpunumanodes");
  if (!power9) GTEST_SKIP();
  EXPECT_EQ(power9->nodes().back().kind, "GPU memory");
  EXPECT_EQ(power9->nodes().back().memory_bytes, 15728640ull * 1024);
  EXPECT_EQ(power9->allowed_nodes(), ids("0,8"));
  EXPECT_THAT(power9->warnings(), Contains(HasSubstr("nodes 250-255 memory of a GPU")));
  EXPECT_THAT(power9->numa_defect(), IsEmpty()) << "hidden on purpose";
}

TEST_F(GatheredMachine, SaysWhichCpusAreOffline) {
  const auto r630 = machine("offline-cpu0-node0");
  if (!r630) GTEST_SKIP();
  EXPECT_EQ(format_id_list(r630->offline_cpus()), "0-3,21-23");
  EXPECT_THAT(r630->warnings(), Contains(HasSubstr("CPUs 0-3,21-23 offline")));
}

TEST_F(GatheredMachine, KnowsDiesGroupsAndMemorySideCaches) {
  const auto dies = machine("fakecpuid1f-64intel64-2p4d2n2c2t");
  if (!dies) GTEST_SKIP();
  EXPECT_EQ(dies->dies(), 8);
  EXPECT_EQ(dies->cpus().back().die, 7);
  const auto arm = machine("128arm-2pa2n8cluster4co");
  ASSERT_TRUE(arm);
  EXPECT_EQ(arm->groups().size(), 32u) << "8 clusters in each of 4 nodes";
  EXPECT_EQ(arm->groups().front().kind, "Cluster");
  EXPECT_EQ(format_id_list(arm->groups().front().cpus), "0-3");
  const auto optane = machine("memorysidecaches");
  ASSERT_TRUE(optane);
  EXPECT_THAT(format_topology(*optane), HasSubstr("4 memory-side of 96 GiB"));
}

TEST(TopologyOfAFolder, WithoutSysIsRefused) {
  const TemporaryDirectory directory;
  const Error error = error_of([&] { Topology::of_gathered_folder(directory.path()); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("hwloc-gather-topology"));
}

TEST(TopologyOfAFolder, LeavesTheEnvironmentAlone) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path() + std::string("/sys/devices/system/cpu"));
  try {
    Topology::of_gathered_folder(directory.path());
  } catch (const Error&) {  // an empty machine need not be one
  }
  EXPECT_EQ(std::getenv("HWLOC_FSROOT"), nullptr);
  EXPECT_TRUE(Topology::of_this_host().is_this_host());
}

}  // namespace
}  // namespace numabench
