// How a tree of PostgreSQL is configured, compiled and installed: autoconf or meson.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/arms/build_step.h"
#include "runner/config/experiment.h"

namespace numabench {

/// The folders of one arm. PostgreSQL finds its files relative to its binary, so that every arm is
/// configured with the same prefix and the compiler is called in the same way for all.
struct ArmFolders {
  std::string root;

  std::string source() const { return root + "/src"; }
  std::string build() const { return root + "/build"; }
  std::string install() const { return root + "/install"; }
  std::string prefix() const;  ///< install() and the prefix of all arms
  std::string bindir() const { return prefix() + "/bin"; }
  std::string libdir() const { return prefix() + "/lib"; }
};

class BuildSystem {
 public:
  virtual ~BuildSystem() = default;
  virtual std::string name() const = 0;
  /// Programs that it needs beside a compiler.
  virtual std::vector<std::string> tools() const = 0;
  virtual void configure(const BuildSteps& steps) const = 0;
  virtual void compile(const BuildSteps& steps) const = 0;
  virtual void install(const BuildSteps& steps) const = 0;
  /// Compiles what has changed of the server and links it to build()/src/backend/postgres; false
  /// when that fails.
  virtual bool relink_server(const BuildSteps& steps) const = 0;
  /// The options it was configured with, in one line; the same for all arms of a build.
  virtual std::string configuration() const = 0;
};

/// By the options, else by what the tree has. Throws Error(kRun) when it has not what was asked
/// for.
std::unique_ptr<BuildSystem> make_build_system(const ArmFolders& folders,
                                               const BuildOptions& options);

/// Of the compilations of one arm: ccache finds those of another through it.
std::map<std::string, std::string> build_environment(const ArmFolders& folders);

/// `ccache gcc` where ccache is installed.
std::string compiler_command();
bool is_installed(const std::string& program);

std::unique_ptr<BuildSystem> make_autoconf(const ArmFolders& folders, const BuildOptions& options);
std::unique_ptr<BuildSystem> make_meson(const ArmFolders& folders, const BuildOptions& options);

/// The prefix of every arm; nothing is ever installed there (DESTDIR). With "pgsql" in it,
/// PostgreSQL appends no folder of its own to share/ and lib/.
inline constexpr const char* kPrefix = "/pgsql";
/// A build-id is an arm's identity; not every distribution's compiler makes one unasked.
inline constexpr const char* kLinkerOptions = "-Wl,--build-id";

/// CPUs that this process may use.
int parallel_jobs();

}  // namespace numabench
