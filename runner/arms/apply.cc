#include "runner/arms/apply.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <regex>

#include "hosts/error.h"
#include "runner/arms/git.h"
#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

bool run_git_step(const BuildSteps& steps, const std::string& stage, const std::string& tree,
                  const std::vector<std::string>& arguments) {
  return steps.run(stage, git_command(tree, arguments), tree);
}

bool apply_mail(const std::string& tree, const std::string& path, const Patch& patch,
                const std::string& stage, const BuildSteps& steps) {
  std::vector<std::string> arguments = {"am", "--quiet", "--3way", "--whitespace=nowarn"};
  if (patch.keep_cr) arguments.emplace_back("--keep-cr");
  arguments.push_back(path);
  if (run_git_step(steps, stage, tree, arguments)) return true;
  run_git(tree, {"am", "--abort"});
  return false;
}

bool apply_diff(const std::string& tree, const std::string& path, const Patch& patch,
                const std::string& stage, const BuildSteps& steps) {
  const bool applied =
      run_git_step(steps, stage, tree, {"apply", "--3way", "--whitespace=nowarn", path}) &&
      run_git_step(steps, stage, tree, {"commit", "--quiet", "--message", patch.name});
  if (!applied) run_git(tree, {"reset", "--quiet", "--hard"});
  return applied;
}

// Where git says that it failed: "error: patch failed: FILE:LINE", else its first error.
std::string failed_place(const std::string& tree, const std::string& path, const Patch& patch) {
  const CommandResult check = run_git(tree, {"apply", "--check", path});
  static const std::regex place(R"(error: patch failed: (.*):(\d+)\n)");
  std::smatch match;
  if (std::regex_search(check.err, match, place)) {
    const int line = std::stoi(match[2]);
    const int hunk = hunk_number(patch.text, match[1], line);
    return hunk == 0 ? fmt::format("{}, line {}", match[1].str(), line)
                     : fmt::format("{}, hunk {} (line {})", match[1].str(), hunk, line);
  }
  static const std::regex first(R"(error: (.*)\n)");
  if (std::regex_search(check.err, match, first))
    return fmt::format("the tree: {}", match[1].str());
  return "the tree";
}

}  // namespace

int hunk_number(const std::string& diff, const std::string& file, int line) {
  bool in_file = false;
  int hunk = 0;
  for (const std::string_view text : lines_of(diff)) {
    const std::string_view content = without_line_end(text);
    if (content.starts_with("--- ") || content.starts_with("+++ ")) {
      if (content.starts_with("--- ")) {
        in_file = false;
        hunk = 0;
      }
      const std::string_view name = content.substr(4, content.find('\t') - 4);
      in_file = in_file || name == file || name.ends_with("/" + file);
    }
    int start = 0;
    if (!in_file || std::sscanf(std::string(content).c_str(), "@@ -%d", &start) != 1) continue;
    ++hunk;
    if (start == line) return hunk;
  }
  return 0;
}

void apply_patches(const std::string& tree, const std::string& directory,
                   const std::vector<Patch>& patches, const BuildSteps& steps) {
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const Patch& patch = patches[i];
    const std::string path = fmt::format("{}/{:04}.patch", directory, i + 1);
    std::ofstream(path, std::ios::binary) << patch.text;
    const std::string stage = fmt::format("applying {}", patch.name);
    const bool applied =
        (patch.form == Patch::Form::kMail && apply_mail(tree, path, patch, stage, steps)) ||
        apply_diff(tree, path, patch, stage, steps);
    if (applied) continue;
    throw Error(
        ErrorKind::kRun,
        fmt::format("patch {} does not apply to {}", patch.name, failed_place(tree, path, patch)),
        "rebase it onto this source, or build an older commit; log: " + steps.log_path());
  }
}

}  // namespace numabench
