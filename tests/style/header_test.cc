// What a reader may expect of every header: it says first what it is for, and it is included once.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/paths.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> headers() {
  std::vector<fs::path> found;
  for (const char* top : {"hosts", "workloads", "reports", "runner", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_dir()) / top)) {
      if (entry.path().extension() == ".h") found.push_back(entry.path());
    }
  }
  return found;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Headers, SayFirstWhatTheyAreFor) {
  ASSERT_FALSE(headers().empty());
  for (const fs::path& path : headers()) {
    const std::string text = read(path);
    EXPECT_TRUE(text.starts_with("// "))
        << path << ": begin it with a comment that says what the file is for";
  }
}

TEST(Headers, AreIncludedOnce) {
  for (const fs::path& path : headers()) {
    EXPECT_NE(read(path).find("\n#pragma once\n"), std::string::npos) << path;
  }
}

}  // namespace
}  // namespace numabench
