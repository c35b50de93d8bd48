// git, with settings of our own: what a user has configured (signing, hooks, line ends) does not
// change what is built.
#pragma once

#include <string>
#include <vector>

#include "hosts/process.h"

namespace numabench {

/// The command line that runs git's `arguments` in `directory`.
std::vector<std::string> git_command(const std::string& directory,
                                     const std::vector<std::string>& arguments);

/// Runs it; for what is quick or has no log.
CommandResult run_git(const std::string& directory, const std::vector<std::string>& arguments);

/// Its output without trailing white space. Throws Error(kRun, `problem` and what git said).
std::string require_git(const std::string& directory, const std::vector<std::string>& arguments,
                        const std::string& problem);

/// "https://user:token@host/x" -> "https://host/x".
std::string without_credentials(const std::string& text);

}  // namespace numabench
