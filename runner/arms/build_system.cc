#include "runner/arms/build_system.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include "hosts/error.h"

namespace numabench {

std::string ArmFolders::prefix() const { return install() + kPrefix; }

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (::access((directory + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string compiler_command() { return is_installed("ccache") ? "ccache gcc" : "gcc"; }

int parallel_jobs() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

std::map<std::string, std::string> build_environment(const ArmFolders& folders) {
  return {
      // Paths below it are relative for ccache, and its hashes know nothing of the working
      // directory: so the same file of two arms is one. The debug information may then name the
      // other arm's folder; the build-id tells the binaries apart.
      {"CCACHE_BASEDIR", folders.root},
      {"CCACHE_NOHASHDIR", "1"},
      {"CCACHE_STATSLOG", folders.root + "/ccache.log"},
      // What the caller's own build has left would change this one.
      {"MAKEFLAGS", ""},
      {"MAKELEVEL", ""},
      {"CFLAGS", ""},
      {"CPPFLAGS", ""},
      {"LDFLAGS", ""},
  };
}

std::unique_ptr<BuildSystem> make_build_system(const ArmFolders& folders,
                                               const BuildOptions& options) {
  const bool has_meson = std::filesystem::exists(folders.source() + "/meson.build");
  const bool has_configure = std::filesystem::exists(folders.source() + "/configure");
  const bool wants_meson = options.system == BuildOptions::System::kMeson ||
                           (options.system == BuildOptions::System::kAuto && has_meson);
  if (wants_meson && has_meson) return make_meson(folders, options);
  if (!wants_meson && has_configure) return make_autoconf(folders, options);
  if (wants_meson) {
    throw Error(ErrorKind::kRun, "the tree has no meson.build: it is older than PostgreSQL 16",
                "set `build: {system: auto}` or `autoconf`");
  }
  throw Error(ErrorKind::kRun, "the tree has neither meson.build nor configure",
              "name sources of PostgreSQL");
}

}  // namespace numabench
