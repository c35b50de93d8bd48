// A tree that builds like PostgreSQL in a second: a configure script, a makefile and two C files.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hosts/process.h"
#include "runner/arms/arm_build.h"

namespace numabench::arms_test {

inline void write(const std::string& path, const std::string& content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Output of a program that must succeed.
inline std::string output_of(const std::vector<std::string>& command) {
  const CommandResult result = run_command(command);
  EXPECT_TRUE(result.ok()) << command[0] << ": " << result.out << result.err;
  return result.out;
}

constexpr const char* kConfigure = R"(#!/bin/sh
mkdir -p src/backend
for argument; do
  case $argument in
    CC=*) cc=${argument#CC=} ;;
    CFLAGS=*) cflags=${argument#CFLAGS=} ;;
    LDFLAGS=*) ldflags=${argument#LDFLAGS=} ;;
  esac
done
cat > src/backend/Makefile <<END
S = ../../../src/src/backend
all: postgres
freelist.o: \$(S)/storage/buffer/freelist.c
	$cc $cflags -c -o \$@ \$<
main.o: \$(S)/main.c
	$cc $cflags -c -o \$@ \$<
postgres: main.o freelist.o
	$cc $ldflags -o \$@ \$^
install: all
	mkdir -p \$(DESTDIR)/pgsql/bin
	cp postgres \$(DESTDIR)/pgsql/bin
END
)";

constexpr const char* kMain = R"(#include <stdio.h>
int sweep(void);
int main(void) {
  printf("postgres (PostgreSQL) 15.%d\n", sweep());
  return 0;
}
)";

/// Three functions, far enough from each other for hunks of their own.
constexpr const char* kFreelist = R"(int first(void) {
  return 1;
}

/* 5 */
/* 6 */
/* 7 */
/* 8 */
/* 9 */

int second(void) {
  return 2;
}

/* 15 */
/* 16 */
/* 17 */
/* 18 */
/* 19 */

int sweep(void) {
  return 42;
}
)";

/// A repository of it and a root for builds; both go with the object.
class FakeTree {
 public:
  FakeTree() {
    std::string path = std::filesystem::temp_directory_path() / "numabench-arms-XXXXXX";
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    directory_ = path;
    write(tree() + "/configure", kConfigure);
    std::filesystem::permissions(tree() + "/configure", std::filesystem::perms(0755));
    write(tree() + "/src/backend/main.c", kMain);
    write(freelist(), kFreelist);
    git({"init", "--quiet", "--initial-branch=trunk"});
    commit("Begin");
  }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;
  ~FakeTree() { std::filesystem::remove_all(directory_); }

  std::string tree() const { return directory_ + "/tree"; }
  std::string root() const { return directory_ + "/root"; }
  std::string file(const std::string& name) const { return directory_ + "/" + name; }
  std::string freelist() const { return tree() + "/src/backend/storage/buffer/freelist.c"; }

  std::string git(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {
        "git", "-C", tree(), "-c", "user.name=T", "-c", "user.email=t@example.org"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return output_of(command);
  }
  void commit(const std::string& message) const {
    git({"add", "--all"});
    git({"commit", "--quiet", "--message", message});
  }
  void edit(const std::string& from, const std::string& to) const {
    std::string text = read(freelist());
    text.replace(text.find(from), from.size(), to);
    write(freelist(), text);
  }
  /// A format-patch file of that edit; the tree is as before.
  std::string patch(const std::string& name, const std::string& from, const std::string& to) const {
    edit(from, to);
    commit("Change " + from);
    const std::string path = directory_ + "/" + name;
    write(path, git({"format-patch", "-1", "--stdout"}));
    git({"reset", "--quiet", "--hard", "HEAD~1"});
    return path;
  }

  Arm arm(const std::vector<std::string>& patches = {}) const {
    Arm arm;
    arm.name = "arm";
    arm.source = {ArmSource::Kind::kGit, tree(), "trunk"};
    arm.patches = patches;
    return arm;
  }
  ArmBuilder builder(const BuildOptions& options = {}) const { return {root(), options}; }
  ArmBuild build(const Arm& arm) const {
    return builder().build(arm, [](const std::string&, const std::string&) {});
  }

 private:
  std::string directory_;
};

}  // namespace numabench::arms_test
