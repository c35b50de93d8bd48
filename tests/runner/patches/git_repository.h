// A throw-away git repository: git is the independent truth about patches.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "hosts/files.h"
#include "hosts/process.h"

namespace numabench::patches_test {

class GitRepository {
 public:
  GitRepository() {
    std::string path = (std::filesystem::temp_directory_path() / "numabench-patches-XXXXXX");
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    root_ = path;
    std::filesystem::create_directory(path + "/tree");
    git({"init", "--quiet", "--initial-branch=trunk"});
  }
  GitRepository(const GitRepository&) = delete;
  GitRepository& operator=(const GitRepository&) = delete;
  ~GitRepository() { std::filesystem::remove_all(root_); }

  std::string tree() const { return root_ + "/tree"; }

  /// The output of git in the tree; a failure of git fails the test.
  std::string git(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {"git",
                                        "-c",
                                        "user.name=Tester",
                                        "-c",
                                        "user.email=tester@example.org",
                                        "-c",
                                        "core.autocrlf=false",
                                        "-c",
                                        "commit.gpgsign=false"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    CommandOptions options;
    options.working_directory = tree();
    const CommandResult result = run_command(command, options);
    EXPECT_TRUE(result.ok()) << arguments[0] << ": " << result.out << result.err;
    return result.out;
  }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(tree() + "/" + name, std::ios::binary) << content;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(tree() + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void commit(const std::string& message) const {
    git({"add", "--all"});
    git({"commit", "--quiet", "--message", message});
  }
  /// A file beside the tree.
  std::string save(const std::string& name, const std::string& content) const {
    const std::string path = root_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

 private:
  std::string root_;
};

}  // namespace numabench::patches_test
