#include "runner/arms/git.h"

#include <chrono>
#include <regex>

#include "hosts/error.h"
#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

// The first clone of a large repository over a slow line.
constexpr std::chrono::hours kLongestGit{2};

}  // namespace

std::vector<std::string> git_command(const std::string& directory,
                                     const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"git", "-C", directory};
  // safe.directory: root builds from the repository of a user.
  for (const char* setting :
       {"user.name=numabench", "user.email=numabench@localhost", "commit.gpgSign=false",
        "core.autocrlf=false", "core.hooksPath=/dev/null", "safe.directory=*", "gc.auto=0",
        "advice.detachedHead=false", "core.pager=cat"}) {
    command.insert(command.end(), {"-c", setting});
  }
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

CommandResult run_git(const std::string& directory, const std::vector<std::string>& arguments) {
  CommandOptions options;
  options.timeout = kLongestGit;
  options.environment = {{"GIT_TERMINAL_PROMPT", "0"}};
  return run_command(git_command(directory, arguments), options);
}

std::string require_git(const std::string& directory, const std::vector<std::string>& arguments,
                        const std::string& problem) {
  const CommandResult result = run_git(directory, arguments);
  if (!result.ok()) {
    throw Error(ErrorKind::kRun,
                problem + ": " + without_credentials(std::string(trimmed(result.err))));
  }
  return std::string(trimmed(result.out));
}

std::string without_credentials(const std::string& text) {
  static const std::regex credentials(R"(([A-Za-z][A-Za-z0-9+.-]*://)[^/@\s]*@)");
  return std::regex_replace(text, credentials, "$1");
}

}  // namespace numabench
