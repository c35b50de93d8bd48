// What git format-patch writes, read by us, must make git am restore the very same trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hosts/error.h"
#include "runner/patches/patch.h"
#include "tests/runner/patches/git_repository.h"

namespace numabench {
namespace {

using patches_test::GitRepository;

constexpr const char* kHand = R"(int
ClockSweepTick(void)
{
	int			victim = 0;

	return victim;
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

struct Flavour {
  const char* name;
  std::vector<std::string> arguments;
  const char* line_end = "\n";
};

void PrintTo(const Flavour& flavour, std::ostream* out) { *out << flavour.name; }

class PatchRoundTrip : public testing::TestWithParam<Flavour> {
 protected:
  void SetUp() override {
    repository_.write("freelist.c", with_line_ends(kHand));
    repository_.commit("Begin");
    repository_.write("freelist.c", with_line_ends(replaced(kHand, "victim = 0", "victim = 1")));
    repository_.commit("Zähle from one\n\nFrom here on the hand begins at one.\n");
    repository_.write("freelist.c", with_line_ends(replaced(kHand, "victim = 0", "victim = 2 ")));
    repository_.commit(
        "Begin at two, with a subject that is longer than a line of a mail header "
        "may be, so that it is folded");
  }

  std::string with_line_ends(const std::string& text) const {
    std::string result;
    for (const char c : text) result += c == '\n' ? GetParam().line_end : std::string(1, c);
    return result;
  }

  void apply(const Patch& patch) const {
    const std::string path = repository_.save("one.patch", patch.text);
    std::vector<std::string> command = {"am", "--quiet", "--3way"};
    if (patch.keep_cr) command.push_back("--keep-cr");
    command.push_back(path);
    repository_.git(command);
  }

  GitRepository repository_;
};

TEST_P(PatchRoundTrip, RestoresEachTreeAndMessage) {
  std::vector<std::string> command = {"format-patch", "--stdout"};
  command.insert(command.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  command.push_back("HEAD~2");
  const std::string series = repository_.git(command);
  const std::string trees = repository_.git({"log", "--format=%T %an %s%n%b", "HEAD~2.."});

  const std::vector<Patch> patches = read_patches({repository_.save("series.mbox", series)});
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[0].number, 1);
  EXPECT_EQ(patches[1].number, 2);
  repository_.git({"reset", "--quiet", "--hard", "HEAD~2"});
  for (const Patch& patch : patches) {
    EXPECT_EQ(patch.form, Patch::Form::kMail);
    apply(patch);
  }
  EXPECT_EQ(repository_.git({"log", "--format=%T %an %s%n%b", "HEAD~2.."}), trees);
}

INSTANTIATE_TEST_SUITE_P(Flavours, PatchRoundTrip,
                         testing::Values(Flavour{"plain", {"--numbered"}},
                                         Flavour{"attach", {"--attach", "--numbered"}},
                                         Flavour{"inline", {"--inline", "--numbered"}},
                                         Flavour{"crlf_files", {"--numbered"}, "\r\n"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PatchFiles, AFormatPatchFileIsTakenAsItIs) {
  const GitRepository repository;
  repository.write("a", "1\n");
  repository.commit("Begin");
  repository.write("a", "2\n");
  repository.commit("Change it");
  repository.git({"format-patch", "--quiet", "-v3", "HEAD~1"});
  const std::string path = repository.tree() + "/v3-0001-Change-it.patch";
  const std::vector<Patch> patches = read_patches({path});
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0].name, "v3-0001-Change-it.patch");
  EXPECT_EQ(patches[0].origin, path);
  EXPECT_EQ(patches[0].number, 1);
  EXPECT_EQ(patches[0].text, repository.read("v3-0001-Change-it.patch"));
  const CommandResult sum = run_command({"sha256sum", path});
  EXPECT_EQ(patches[0].sha256, sum.out.substr(0, 64));
}

TEST(PatchFiles, ABareDiffIsForGitApply) {
  const GitRepository repository;
  repository.write("a", "1\n");
  repository.commit("Begin");
  repository.write("a", "2\n");
  const std::string diff = repository.git({"diff"});
  const std::vector<Patch> patches = read_patches({repository.save("two.diff", diff)});
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0].form, Patch::Form::kDiff);
  EXPECT_EQ(patches[0].text, diff);
  EXPECT_FALSE(patches[0].keep_cr);
  repository.git({"checkout", "--quiet", "a"});
  repository.git({"apply", repository.save("read.diff", patches[0].text)});
  EXPECT_EQ(repository.read("a"), "2\n");
}

TEST(PatchFiles, ADiffThatWasConvertedToCrLfAppliesToUnixFiles) {
  const GitRepository repository;
  repository.write("a", "1\n");
  repository.commit("Begin");
  repository.write("a", "2\n");
  std::string converted;
  for (const char c : repository.git({"diff"})) converted += c == '\n' ? "\r\n" : std::string(1, c);
  const std::vector<Patch> patches = split_patches(converted, "windows.diff");
  EXPECT_FALSE(patches.at(0).keep_cr);
  repository.git({"checkout", "--quiet", "a"});
  repository.git({"apply", repository.save("read.diff", patches[0].text)});
  EXPECT_EQ(repository.read("a"), "2\n");
}

TEST(PatchFiles, AnUnreadableFileIsNamed) {
  try {
    read_patches({"/nonexistent/v1-0001-x.patch"});
    FAIL() << "read a file that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), testing::HasSubstr("/nonexistent/v1-0001-x.patch"));
    EXPECT_THAT(error.what(), testing::HasSubstr("No such file"));
  }
}

}  // namespace
}  // namespace numabench
