#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "hosts/error.h"
#include "hosts/tree_copy.h"
#include "reports/digest.h"
#include "runner/arms/git.h"
#include "runner/arms/source.h"
#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

constexpr std::size_t kHashLength = 40;

bool is_full_hash(const std::string& name) {
  return name.size() == kHashLength &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::optional<std::string> resolve(const std::string& repository, const std::string& name) {
  const CommandResult result = run_git(
      repository, {"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
  if (!result.ok()) return std::nullopt;
  return std::string(trimmed(result.out));
}

Error not_found(const ArmSource& source, const std::string& reason) {
  return Error(
      ErrorKind::kPreflight,
      fmt::format("no commit '{}' in {}{}", source.commit, without_credentials(source.location),
                  reason.empty() ? "" : ": " + without_credentials(reason)),
      "name a commit, tag or branch of it, and check that it can be reached");
}

// The other side of a local fetch does not see our settings, and as root would not read a user's
// repository.
const std::string kLocalUploadPack = "--upload-pack=git -c 'safe.directory=*' upload-pack";

// Branches and tags; and the commit itself, which may be on none of them.
void fetch(const std::string& repository, const ArmSource& source, bool is_local) {
  std::vector<std::string> command = {"fetch", "--quiet", "--force", "--no-tags"};
  if (is_local) command.push_back(kLocalUploadPack);
  command.insert(command.end(),
                 {source.location, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"});
  const CommandResult all = run_git(repository, command);
  if (!all.ok()) throw not_found(source, std::string(trimmed(all.err)));
  if (is_full_hash(source.commit) && !resolve(repository, source.commit)) {
    run_git(repository, {"fetch", "--quiet", source.location, source.commit});
  }
}

// A local repository's objects are linked or copied as they are: packing PostgreSQL's history anew
// takes minutes.
void make_mirror(const std::string& repository, const ArmSource& source, bool is_local) {
  if (std::filesystem::exists(repository)) return;
  const std::string unfinished = repository + ".new";
  remove_tree(unfinished);
  if (is_local) {
    const CommandResult copied = run_git("/", {"clone", "--quiet", "--bare", "--local",
                                               kLocalUploadPack, source.location, unfinished});
    if (!copied.ok()) throw not_found(source, std::string(trimmed(copied.err)));
  } else {
    require_git("/", {"init", "--quiet", "--bare", unfinished}, "cannot make a repository");
  }
  std::filesystem::rename(unfinished, repository);
}

}  // namespace

SourceTree find_git_source(const std::string& root, const ArmSource& source) {
  const std::string repository =
      fmt::format("{}/git-{}.git", root, sha256_hex(source.location).substr(0, 16));
  const bool is_local = std::filesystem::is_directory(source.location);
  make_mirror(repository, source, is_local);
  std::optional<std::string> commit = resolve(repository, source.commit);
  if (!commit || (is_local && !is_full_hash(source.commit))) {
    fetch(repository, source, is_local);
    commit = resolve(repository, source.commit);
  }
  if (!commit) throw not_found(source, "");
  return {repository, *commit,
          fmt::format("git {} {}", without_credentials(source.location), *commit)};
}

}  // namespace numabench
