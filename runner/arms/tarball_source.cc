#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "hosts/error.h"
#include "hosts/process.h"
#include "hosts/tree_copy.h"
#include "runner/arms/git.h"
#include "runner/arms/source.h"
#include "runner/patches/text_lines.h"

namespace numabench {
namespace {

constexpr std::chrono::minutes kLongestUnpacking{10};

CommandResult run_long(const std::vector<std::string>& arguments) {
  CommandOptions options;
  options.timeout = kLongestUnpacking;
  return run_command(arguments, options);
}

// By another program: a release is tens of megabytes, which need not be in our memory.
std::string sha256_of_file(const std::string& path) {
  const CommandResult result = run_long({"sha256sum", "--", path});
  if (!result.ok()) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("cannot read the release '{}': {}", path, trimmed(result.err)),
                "name a tar archive of PostgreSQL's sources");
  }
  // A backslash stands before the hash of a file whose name is escaped.
  return result.out.substr(result.out.starts_with('\\') ? 1 : 0, 64);
}

}  // namespace

SourceTree find_tarball_source(const std::string& root, const ArmSource& source) {
  const std::string hash = sha256_of_file(source.location);
  const std::string repository = fmt::format("{}/tarball-{}.git", root, hash.substr(0, 16));
  if (!std::filesystem::exists(repository)) {
    const std::string tree = repository + ".tree";
    remove_tree(tree);
    std::filesystem::create_directories(tree);
    const CommandResult unpacked =
        run_long({"tar", "--extract", "--strip-components=1", "--no-same-owner", "--directory",
                  tree, "--file", source.location});
    if (!unpacked.ok()) {
      remove_tree(tree);
      throw Error(ErrorKind::kPreflight,
                  fmt::format("cannot unpack '{}': {}", source.location, trimmed(unpacked.err)),
                  "name a tar archive of PostgreSQL's sources");
    }
    import_tree(tree, repository);
    remove_tree(tree);
  }
  return {repository, require_git(repository, {"rev-parse", "HEAD"}, "cannot read " + repository),
          "tarball " + hash};
}

}  // namespace numabench
