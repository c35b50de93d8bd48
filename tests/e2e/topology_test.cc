// `numabench topology` as a person calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/e2e/driver.h"
#include "tests/paths.h"

namespace numabench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class TopologyCommand : public ::testing::Test {
 protected:
  CommandResult call(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "topology");
    return numabench(arguments, directory_.path());
  }
  const std::string guest_ = source_dir() + "/tests/hosts/data/guest-snc3-dies.xml";
  const TemporaryDirectory directory_;
};

TEST_F(TopologyCommand, WritesEveryFormatOfAFile) {
  const CommandResult table = call({"--file", guest_});
  EXPECT_THAT(table.out, HasSubstr("2 packages, 6 dies, 12 cores, 12 CPUs, 6 nodes"));
  EXPECT_THAT(table.out, HasSubstr("not this host: for looking and planning only"));
  const CommandResult json = call({"--file", guest_, "--format", "json"});
  EXPECT_EQ(nlohmann::json::parse(json.out)["dies"], 6);
  const CommandResult svg = call({"--file", guest_, "--format", "svg"});
  ASSERT_TRUE(svg.ok()) << svg.err;
  EXPECT_THAT(svg.out, HasSubstr("<svg"));
}

TEST_F(TopologyCommand, WritesXmlThatItReads) {
  const std::string path = directory_.path() + "/again.xml";
  const CommandResult written = call({"--file", guest_, "--format", "xml", "--output", path});
  ASSERT_TRUE(written.ok()) << written.err;
  EXPECT_THAT(written.out, IsEmpty());
  EXPECT_THAT(call({"--file", path}).out, StartsWith(path + ": 2 packages, 6 dies"));
}

TEST_F(TopologyCommand, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(call({"--format", "png"}).exit_code, 2);
  EXPECT_EQ(call({"--file", "/nonexistent.xml"}).exit_code, 2);
  const CommandResult folder = call({"--file", directory_.path()});
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_THAT(folder.err, HasSubstr("hwloc-gather-topology"));
  EXPECT_EQ(call({"--output", "/nonexistent/folder/x"}).exit_code, 2);
}

}  // namespace
}  // namespace numabench
