// Debian's postgresql-15 as an arm of tests. Its builds take minutes, and so are kept for all
// tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "runner/arms/arm_build.h"

namespace numabench {

/// $NUMABENCH_TEST_ARMS, or a folder in the temporary directory.
inline std::string kept_arms_directory() {
  const char* given = std::getenv("NUMABENCH_TEST_ARMS");
  return given != nullptr ? given : std::filesystem::temp_directory_path() / "numabench-test-arms";
}

inline Arm debian_arm(const std::string& name) {
  Arm arm;
  arm.name = name;
  arm.source = {ArmSource::Kind::kDebian, "postgresql-15", ""};
  return arm;
}

}  // namespace numabench
