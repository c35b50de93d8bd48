#include "hosts/error.h"

#include <gtest/gtest.h>

namespace numabench {
namespace {

TEST(Error, ReadsAsPlaceProblemRemedy) {
  const Error error(ErrorKind::kUsage, "what is wrong", "what to do", "file.yaml:3:5");
  EXPECT_STREQ(error.what(), "file.yaml:3:5: what is wrong; what to do");
}

TEST(Error, LeavesOutAbsentParts) {
  EXPECT_STREQ(Error(ErrorKind::kRun, "it broke").what(), "it broke");
}

TEST(Error, MapsEachKindToItsExitCode) {
  EXPECT_EQ(exit_code(ErrorKind::kUsage), 2);
  EXPECT_EQ(exit_code(ErrorKind::kPreflight), 3);
  EXPECT_EQ(exit_code(ErrorKind::kRun), 4);
  EXPECT_EQ(exit_code(ErrorKind::kInterrupted), 130);
  EXPECT_EQ(exit_code(ErrorKind::kInternal), 70);
}

}  // namespace
}  // namespace numabench
