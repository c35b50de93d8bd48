#include "tests/style/layering.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/hosts/temporary_directory.h"
#include "tests/paths.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// A copy of the layers that a test may damage.
class Layering : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* top : {"hosts", "workloads", "reports", "runner"}) {
      fs::copy(fs::path(source_dir()) / top, copy_ / top, fs::copy_options::recursive);
    }
  }

  // A new file, so that the line number of the include is known.
  void plant(const std::string& path, const std::string& included) {
    std::ofstream(copy_ / path) << "#include <vector>\n#include \"" << included << "\"\n";
  }

  TemporaryDirectory directory_;
  const fs::path copy_ = directory_.path();
};

TEST_F(Layering, HoldsInThisTree) { EXPECT_THAT(layering_violations(source_dir()), IsEmpty()); }

TEST_F(Layering, UpwardIncludeIsFound) {
  plant("hosts/planted.cc", "runner/plan.h");
  EXPECT_THAT(layering_violations(copy_),
              Contains(StartsWith("hosts/planted.cc:2: \"runner/plan.h\" points out of hosts/")));
}

TEST_F(Layering, SidewaysIncludeIsFound) {
  plant("workloads/planted.h", "reports/metric.h");
  plant("reports/planted.h", "workloads/workload.h");
  EXPECT_THAT(layering_violations(copy_), AllOf(Contains(StartsWith("reports/planted.h:2: ")),
                                                Contains(StartsWith("workloads/planted.h:2: "))));
}

TEST_F(Layering, ConfigKnowsNoEngineAndEnginesKnowNoCommand) {
  plant("runner/config/planted.cc", "runner/engines/engine.h");
  plant("runner/engines/embedded/planted.cc", "runner/plan.h");
  EXPECT_THAT(layering_violations(copy_),
              AllOf(Contains(StartsWith("runner/config/planted.cc:2: ")),
                    Contains(StartsWith("runner/engines/embedded/planted.cc:2: "))));
}

TEST_F(Layering, IncludeRelativeToTheFileIsFound) {
  plant("hosts/planted.cc", "../runner/plan.h");
  plant("runner/planted.cc", "plan.h");
  EXPECT_THAT(
      layering_violations(copy_),
      AllOf(Contains(StartsWith("hosts/planted.cc:2: \"../runner/plan.h\" is not written from")),
            Contains(StartsWith("runner/planted.cc:2: \"plan.h\" is not written from"))));
}

TEST_F(Layering, DownwardIncludesPass) {
  plant("runner/planted.cc", "runner/engines/engine.h");
  plant("runner/engines/embedded/planted.cc", "runner/config/pool_policy.h");
  plant("runner/config/planted.cc", "workloads/workload.h");
  plant("reports/planted.cc", "hosts/error.h");
  EXPECT_THAT(layering_violations(copy_), Not(Contains(HasSubstr("planted"))));
}

}  // namespace
}  // namespace numabench
