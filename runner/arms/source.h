// Where an arm's sources come from -> a commit of a git repository on this machine. Release
// archives and source packages become repositories of one commit, so that what follows is the same
// for all and `git am --3way` works on all.
#pragma once

#include <string>

#include "runner/config/experiment.h"

namespace numabench {

struct SourceTree {
  std::string repository;  ///< bare, below the root
  std::string commit;      ///< 40 hex digits
  std::string
      description;  ///< "git <URL> <commit>", "tarball <SHA-256>", "debian <package> <version>"
};

/// Fetches what is not yet below `root`/sources. Throws Error(kPreflight) when it cannot be had.
/// Holds a lock meanwhile. `source` is not kNone or kBindir.
SourceTree find_source(const std::string& root, const ArmSource& source);

/// A bare mirror of a repository. A commit that is there is not fetched again, nor a branch of a
/// remote one, which stays where it was; that of a local one is looked up each time.
SourceTree find_git_source(const std::string& root, const ArmSource& source);
SourceTree find_tarball_source(const std::string& root, const ArmSource& source);
/// "postgresql-15", or "postgresql-15=15.18-0+deb12u1". Without a version the newest that can be
/// downloaded; it stays the one for later builds. The system's own apt configuration is not
/// touched.
SourceTree find_debian_source(const std::string& root, const ArmSource& source);

/// Makes `tree`, a folder of files, the one commit of a new bare repository at `repository`.
void import_tree(const std::string& tree, const std::string& repository);

}  // namespace numabench
