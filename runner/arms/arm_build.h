// An arm of the PostgreSQL engine, built: what was made of which inputs, and where it is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runner/config/experiment.h"

namespace numabench {

struct PatchRecord {
  std::string name;
  std::string sha256;
};

/// What an arm will be built from; known without building.
struct ArmInputs {
  std::string key;  ///< SHA-256 of all inputs: source, patches, options, compiler, builder version
  std::string source;  ///< "git <URL> <40 hex digits>", "tarball <SHA-256>", "debian <version>", …
  std::vector<PatchRecord> patches;
  bool built = false;  ///< a finished build of this key is there to be reused
};

/// The record that goes into the store, and what the engine needs to run it.
struct ArmBuild {
  std::string arm;
  std::string failure;  ///< empty when it can be run; else why not, in one line with the remedy
  ArmInputs inputs;

  std::string bindir;             ///< postgres, initdb, pgbench, pg_controldata
  std::string library_directory;  ///< of its libpq: LD_LIBRARY_PATH; empty for installed ones
  std::string postgres;           ///< the server binary as built
  std::string counted_postgres;  ///< the one with counters in the sweep; empty when there is none …
  std::string counted_reason;    ///< … and why
  std::string counted_method;    ///< "ClockSweepTick" or "nextVictimBuffer"
  /// A folder with numabench_clock.so for this server; empty when there is none …
  std::string clock_directory;
  std::string clock_reason;  ///< … and why

  int version_num = 0;        ///< 150018
  std::string version;        ///< "PostgreSQL 15.18 (Debian …)": postgres --version
  std::string configuration;  ///< pg_config --configure, or meson's options: equal for all arms
  std::string compiler;       ///< "gcc (Debian 12.2.0-14) 12.2.0"
  std::string cflags;
  std::string build_id;          ///< of `postgres`, hex; GNU build-id note
  std::string counted_build_id;  ///< of `counted_postgres`
  bool libnuma = false;          ///< built with it
  double build_seconds = 0;      ///< 0 when reused or installed
  bool reused = false;
  int ccache_hits = -1;  ///< of compilations; -1: not known
  int ccache_misses = -1;
  std::string log_path;  ///< of the build; kept
};

/// JSON for the store and for people; paths under the user's home are kept as they are, credentials
/// in URLs are not.
std::string to_json(const ArmBuild& build);
ArmBuild arm_build_from_json(const std::string& json);

/// What is not the same in the builds that can be run, each a sentence: compilers, flags,
/// configurations, libnuma. Each is compared with the first.
std::vector<std::string> flag_differences(const std::vector<ArmBuild>& builds);

/// Who hears of the progress of a build: "cloning", "meson setup", "compiling 512/1930". Called
/// from the building thread.
using BuildObserver = std::function<void(const std::string& arm, const std::string& stage)>;

class ArmBuilder {
 public:
  /// Builds lie in `root`/arms/KEY; `root` is made, readable for the server's user.
  ArmBuilder(std::string root, BuildOptions options);

  /// Resolves commit names and hashes patches. Throws Error(kPreflight) when a source cannot be
  /// found and Error(kUsage) for missing or unreadable patches.
  ArmInputs inputs(const Arm& arm) const;

  /// Builds the arm or finds it built. An arm that cannot be built (a patch that does not apply, a
  /// compiler error) is returned with `failure`: "patch 0003-x.patch does not apply to
  /// src/backend/storage/buffer/freelist.c, hunk 2 (line 131); rebase it, log: …". Throws only
  /// Error(kInterrupted) and Error(kPreflight) of the host: no compiler, no space.
  ArmBuild build(const Arm& arm, const BuildObserver& observer) const;

 private:
  std::string root_;
  BuildOptions options_;
};

}  // namespace numabench
