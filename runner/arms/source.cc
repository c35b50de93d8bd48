#include "runner/arms/source.h"

#include <filesystem>

#include "hosts/error.h"
#include "hosts/tree_copy.h"
#include "runner/arms/file_lock.h"
#include "runner/arms/git.h"

namespace numabench {

SourceTree find_source(const std::string& root, const ArmSource& source) {
  const std::string directory = root + "/sources";
  std::filesystem::create_directories(directory);
  const FileLock lock(directory + "/lock", [] {});
  switch (source.kind) {
    case ArmSource::Kind::kGit:
      return find_git_source(directory, source);
    case ArmSource::Kind::kTarball:
      return find_tarball_source(directory, source);
    case ArmSource::Kind::kDebian:
      return find_debian_source(directory, source);
    case ArmSource::Kind::kNone:
    case ArmSource::Kind::kBindir:
      break;
  }
  throw Error(ErrorKind::kInternal, "an arm without sources was to be built");
}

void import_tree(const std::string& tree, const std::string& repository) {
  const std::string unfinished = repository + ".new";
  remove_tree(unfinished);
  const std::string problem = "cannot make a repository of " + tree;
  require_git("/", {"init", "--quiet", "--bare", unfinished}, problem);
  const std::string git_directory = "--git-dir=" + unfinished;
  const std::string work_tree = "--work-tree=" + tree;
  // Generated files that the tree's .gitignore names belong to a release.
  require_git(tree, {git_directory, work_tree, "add", "--all", "--force", "."}, problem);
  require_git(tree, {git_directory, work_tree, "commit", "--quiet", "--message", "Import"},
              problem);
  std::filesystem::rename(unfinished, repository);
}

}  // namespace numabench
