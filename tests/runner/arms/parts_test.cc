// The small rules of a build, by worked examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hosts/error.h"
#include "runner/arms/apply.h"
#include "runner/arms/apt_sources.h"
#include "runner/arms/binary.h"
#include "runner/arms/build_step.h"
#include "runner/arms/git.h"
#include "runner/arms/preflight.h"
#include "runner/arms/server_facts.h"
#include "tests/runner/arms/fake_tree.h"

namespace numabench {
namespace {

using arms_test::FakeTree;
using arms_test::output_of;
using arms_test::read;
using arms_test::write;
using testing::HasSubstr;

TEST(AptSources, LinesBecomeThoseOfSourcePackages) {
  EXPECT_EQ(source_line("deb [signed-by=/k.gpg] http://deb.debian.org/debian bookworm main"),
            "deb-src [signed-by=/k.gpg] http://deb.debian.org/debian bookworm main");
  EXPECT_EQ(source_line("# deb http://x y z"), "");
  EXPECT_EQ(source_line("deb-src http://x y z"), "");
}

TEST(AptSources, StanzasKeepTheirKeys) {
  EXPECT_EQ(source_stanzas("Types: deb deb-src\nURIs: http://x\nSigned-By: /k.gpg\n"),
            "Types: deb-src\nURIs: http://x\nSigned-By: /k.gpg\n");
}

TEST(AptSources, ReadsListsAndStanzasAndNothingElse) {
  const FakeTree fake;
  write(fake.file("apt/sources.list"), "deb http://x y z\n");
  write(fake.file("apt/sources.list.d/a.sources"), "Types: deb\nURIs: http://a\n");
  write(fake.file("apt/sources.list.d/b.sources.disabled"), "Types: deb\n");
  std::filesystem::create_directories(fake.file("parts"));
  write_source_entries(fake.file("apt"), fake.file("parts"));
  EXPECT_EQ(read(fake.file("parts/sources.list")), "deb-src http://x y z\n");
  EXPECT_THAT(read(fake.file("parts/a.sources")), HasSubstr("Types: deb-src\nURIs: http://a\n"));
  EXPECT_FALSE(std::filesystem::exists(fake.file("parts/b.sources.disabled")));
}

TEST(Credentials, LeaveUrls) {
  EXPECT_EQ(without_credentials("fatal: https://user:token@host/x.git not found"),
            "fatal: https://host/x.git not found");
  EXPECT_EQ(without_credentials("https://host/a@b"), "https://host/a@b");
  EXPECT_EQ(without_credentials("git@host:x.git"), "git@host:x.git");
}

TEST(HunkNumber, CountsTheHunksOfTheNamedFile) {
  const std::string diff =
      "--- a/src/a.c\n+++ b/src/a.c\n@@ -1 +1 @@\n-x\n+y\n@@ -9 +9 @@\n-x\n+y\n"
      "--- a/src/b.c\n+++ b/src/b.c\n@@ -5 +5 @@\n-x\n+y\n@@ -9,2 +9,2 @@\n-x\n+y\n z\n";
  EXPECT_EQ(hunk_number(diff, "src/a.c", 9), 2);
  EXPECT_EQ(hunk_number(diff, "src/b.c", 5), 1);
  EXPECT_EQ(hunk_number(diff, "src/b.c", 9), 2);
  EXPECT_EQ(hunk_number(diff, "src/a.c", 5), 0);
  EXPECT_EQ(hunk_number(diff, "src/c.c", 1), 0);
}

TEST(VersionNumber, ReadsReleasesAndDevelopmentTrees) {
  EXPECT_EQ(version_number("PostgreSQL 15.18 (Debian 15.18-0+deb12u1)"), 150018);
  EXPECT_EQ(version_number("PostgreSQL 20devel"), 200000);
  EXPECT_EQ(version_number("PostgreSQL 19beta1"), 190000);
  EXPECT_EQ(version_number("something else"), 0);
}

TEST(CompileProgress, ReadsNinjaAndMake) {
  CompileProgress ninja;
  EXPECT_EQ(ninja.text(), "");
  ninja.take("[12/1930] Compiling C object src/x.o");
  EXPECT_EQ(ninja.text(), "12/1930");
  CompileProgress make;
  make.take("ccache gcc -O2 -c -o xlog.o xlog.c");
  make.take("touch objfiles.txt");
  make.take("ccache gcc -O2 -c -o slru.o slru.c");
  EXPECT_EQ(make.text(), "2");
}

TEST(Preflight, NamesMissingProgramsAndTheirPackages) {
  require_tools({"git", "sh"});
  try {
    require_tools({"git", "no-such-program"});
    FAIL() << "found a program that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
    EXPECT_THAT(error.what(), HasSubstr("no-such-program"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("git")));
  }
}

TEST(Binary, IsReadAsReadelfReadsIt) {
  const std::string postgres = "/usr/lib/postgresql/15/bin/postgres";
  const BinaryIdentity identity = read_binary(postgres);
  EXPECT_THAT(output_of({"readelf", "--notes", postgres}),
              HasSubstr("Build ID: " + identity.build_id + "\n"));
  const std::string dynamic = output_of({"readelf", "--dynamic", postgres});
  ASSERT_FALSE(identity.libraries.empty());
  for (const std::string& library : identity.libraries) {
    EXPECT_THAT(dynamic, HasSubstr("Shared library: [" + library + "]"));
  }
  EXPECT_THAT(identity.compiler, testing::StartsWith("gcc (Debian "));
  EXPECT_THAT(read(postgres), HasSubstr("compiled by " + identity.compiler + ", 64-bit"));
  EXPECT_TRUE(identity.needs("libc"));
  EXPECT_FALSE(identity.needs("libnuma"));
  EXPECT_THROW(read_binary("/etc/passwd"), Error);
  EXPECT_THROW(read_binary("/nonexistent"), Error);
}

}  // namespace
}  // namespace numabench
