#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "hosts/error.h"
#include "hosts/topology.h"
#include "tests/hosts/error_of.h"
#include "tests/paths.h"

namespace numabench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kGuests = source_dir() + "/tests/hosts/data/";

Topology guest(const std::string& name) {
  return Topology::of_xml_file(kGuests + "guest-" + name + ".xml");
}

std::ptrdiff_t count_of(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {});
}

TEST(TopologyTable, ShowsDiesOnlyWhereThereAreSome) {
  EXPECT_THAT(format_topology(guest("snc3-dies")), HasSubstr("node  package  die  "));
  EXPECT_THAT(format_topology(guest("snc3-groups")), HasSubstr("node  package  memory  "));
}

TEST(TopologyTable, ShowsMemoryNearCpusAndThePlatformsNumbers) {
  const std::string text = format_topology(guest("memonly-near0-hmat"));
  EXPECT_THAT(text, HasSubstr("2     -        504 MiB  yes      none, near 0-1\n"));
  EXPECT_THAT(text, HasSubstr("Latency, ns    to 0  to 1  to 2\n"
                              "from CPUs 0-1  80    -     136\n"
                              "from CPUs 2-3  -     80    -\n"));
  EXPECT_THAT(text, Not(HasSubstr("ReadLatency"))) << "the same as Latency";
}

// 24 nodes: a matrix would be 130 columns wide.
TEST(TopologyTable, ListsNodesByDistanceWhereAMatrixWouldNotFit) {
  const std::string path = source_dir() + "/../shared/topologies/real/192em64t-12gr2n8c2t.xml";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const std::string text = format_topology(Topology::of_xml_file(path));
  EXPECT_THAT(text, HasSubstr("\nfrom  at 10  at 50  at 65  "));
  EXPECT_THAT(text, HasSubstr("\n23    23     22     6-7,14-21  "));
  std::istringstream lines(text.substr(text.find('\n') + 1));  // below the path
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(TopologyJson, HasWhatTheTopologyHas) {
  const auto json = nlohmann::json::parse(topology_json(guest("snc3-dies")));
  EXPECT_EQ(json["this_host"], false);
  EXPECT_EQ(json["packages"], 2);
  EXPECT_EQ(json["dies"], 6);
  EXPECT_EQ(json["cores"], 12);
  EXPECT_EQ(json["nodes"].size(), 6u);
  EXPECT_EQ(json["nodes"][5]["cpus"], "10-11");
  EXPECT_EQ(json["cpus"].size(), 12u);
  EXPECT_EQ(json["cpus"][11]["node"], 5);
  EXPECT_EQ(json["cpus"][11]["package"], 1);
  EXPECT_EQ(json["allowed_nodes"], "0-5");
  EXPECT_TRUE(json["numa_defect"].is_null());
}

TEST(TopologyJson, GivesDistancesFromARowToAColumnAndNullForUnknown) {
  const auto asymmetric = nlohmann::json::parse(topology_json(guest("4asym")));
  EXPECT_EQ(asymmetric["distances"][0][1], 16);
  EXPECT_EQ(asymmetric["distances"][1][0], 20);
  const auto synthetic =
      nlohmann::json::parse(topology_json(Topology::of_synthetic("numa:2 core:1 pu:1")));
  EXPECT_TRUE(synthetic["distances"][0][1].is_null());
}

TEST(TopologyJson, TellsMemoryNearCpusFromANodesOwn) {
  const auto json = nlohmann::json::parse(topology_json(guest("memonly-near0-hmat")));
  EXPECT_EQ(json["nodes"][2]["cpus"], "");
  EXPECT_EQ(json["nodes"][2]["near_cpus"], "0-1");
  EXPECT_EQ(json["nodes_with_cpus"], "0-1");
  EXPECT_EQ(json["memory_attributes"].size(), 18u);
}

TEST(TopologySvg, IsHwlocsDrawingOfAllNodes) {
  const Topology topology = guest("snc3-groups");
  std::string svg;
  try {
    svg = topology_svg(topology);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(count_of(svg, "<rect [^>]*class='NUMANode'"), 6);
  EXPECT_EQ(count_of(svg, "<rect [^>]*class='PU'"), 12);
}

TEST(TopologySvg, WithoutTheProgramNamesItsPackage) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  const Error error = error_of([] { topology_svg(guest("2node")); });
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("install hwloc-nox"));
}

}  // namespace
}  // namespace numabench
