#include "runner/arms/arm_build.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "hosts/error.h"
#include "hosts/files.h"
#include "hosts/tree_copy.h"
#include "reports/digest.h"
#include "runner/arms/apply.h"
#include "runner/arms/binary.h"
#include "runner/arms/build_system.h"
#include "runner/arms/counted.h"
#include "runner/arms/counted_sources.h"
#include "runner/arms/file_lock.h"
#include "runner/arms/git.h"
#include "runner/arms/preflight.h"
#include "runner/arms/server_facts.h"
#include "runner/arms/source.h"
#include "runner/patches/patch.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

// Part of every key: raised when the same inputs are built in another way.
constexpr int kBuilderVersion = 1;

// Of a key in the name of a folder: the server's socket and data paths must stay short.
constexpr std::size_t kFolderKeyLength = 16;

// What we make is readable for the server's user, whatever our umask.
class OpenUmask {
 public:
  OpenUmask() : previous_(::umask(022)) {}
  OpenUmask(const OpenUmask&) = delete;
  OpenUmask& operator=(const OpenUmask&) = delete;
  ~OpenUmask() { ::umask(previous_); }

 private:
  mode_t previous_;
};

/// The inputs of an arm with what they were read from.
struct ResolvedArm {
  ArmInputs inputs;
  SourceTree source;
  std::vector<Patch> patches;
};

std::vector<Patch> patches_of(const Arm& arm) {
  std::vector<Patch> patches = read_patches(arm.patches);
  const auto limit = static_cast<std::size_t>(arm.patch_limit);
  if (limit > 0 && limit < patches.size()) patches.resize(limit);
  return patches;
}

std::string key_of(const ResolvedArm& arm, const BuildOptions& options) {
  nlohmann::json document = {
      {"builder", kBuilderVersion},
      {"source", arm.inputs.source},
      {"system", static_cast<int>(options.system)},
      {"options", options.options},
      {"cflags", options.cflags},
      {"compiler", compiler_version()},
      {"compiled in", sha256_hex(std::string(kFreelistCounted) + std::string(kSweepLayout) +
                                 std::string(kNumabenchClock))},
  };
  for (const Patch& patch : arm.patches) document["patches"].push_back(patch.sha256);
  return sha256_hex(document.dump());
}

ResolvedArm resolve_installed(const Arm& arm) {
  if (!arm.patches.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("arm '{}' is an installed server and has patches", arm.name),
                "give it a source that can be patched: git, tarball or debian");
  }
  const std::string postgres = arm.source.location + "/postgres";
  if (!fs::exists(postgres)) {
    throw Error(ErrorKind::kPreflight, fmt::format("arm '{}': there is no {}", arm.name, postgres),
                "name the folder of the server's binaries, such as /usr/lib/postgresql/15/bin");
  }
  ResolvedArm resolved;
  resolved.inputs.source =
      fmt::format("bindir {} {}", arm.source.location, read_binary(postgres).build_id);
  return resolved;
}

ResolvedArm resolve(const std::string& root, const BuildOptions& options, const Arm& arm) {
  ResolvedArm resolved;
  if (arm.source.kind == ArmSource::Kind::kBindir) {
    resolved = resolve_installed(arm);
  } else {
    resolved.patches = patches_of(arm);
    resolved.source = find_source(root, arm.source);
    resolved.inputs.source = resolved.source.description;
  }
  for (const Patch& patch : resolved.patches) {
    resolved.inputs.patches.push_back({patch.name, patch.sha256});
  }
  resolved.inputs.key = key_of(resolved, options);
  return resolved;
}

std::string record_path(const ArmFolders& folders) { return folders.root + "/build.json"; }

ArmFolders folders_of(const std::string& root, const ArmInputs& inputs) {
  return {root + "/arms/" + inputs.key.substr(0, kFolderKeyLength)};
}

// The finished build in `folders`, if its server still is the one that was built.
std::optional<ArmBuild> finished_build(const ArmFolders& folders, const ArmInputs& inputs) {
  const std::optional<std::string> record = read_text_file(record_path(folders));
  if (!record) return std::nullopt;
  try {
    ArmBuild build = arm_build_from_json(*record);
    const bool same = build.inputs.key == inputs.key && fs::exists(build.postgres) &&
                      read_binary(build.postgres).build_id == build.build_id;
    if (!same) return std::nullopt;
    build.inputs = inputs;
    build.inputs.built = true;
    build.reused = true;
    build.build_seconds = 0;
    return build;
  } catch (const Error&) {
    return std::nullopt;  // of another version of numabench, or damaged: built again
  }
}

// Last of all: a folder without it is that of an interrupted build.
void write_record(const ArmFolders& folders, const ArmBuild& build) {
  const std::string unfinished = record_path(folders) + ".new";
  std::ofstream(unfinished) << to_json(build) << '\n';
  fs::rename(unfinished, record_path(folders));
}

void read_server(ArmBuild& build) {
  build.postgres = build.bindir + "/postgres";
  build.version = server_version(build.postgres);
  build.version_num = version_number(build.version);
  const BinaryIdentity identity = read_binary(build.postgres);
  build.build_id = identity.build_id;
  build.compiler = identity.compiler;
  build.libnuma = identity.needs("libnuma");
  build.cflags = PgConfig(build.bindir, build.library_directory).value("--cflags");
}

// ccache's log: a line for each counter that a compilation raised.
void read_ccache_log(const ArmFolders& folders, ArmBuild& build) {
  std::ifstream log(folders.root + "/ccache.log");
  if (!log.is_open()) return;
  build.ccache_hits = 0;
  build.ccache_misses = 0;
  for (std::string line; std::getline(log, line);) {
    if (line == "direct_cache_hit" || line == "preprocessed_cache_hit") ++build.ccache_hits;
    if (line == "cache_miss") ++build.ccache_misses;
  }
}

void add_clock_function(const ArmFolders& folders, const BuildSteps& steps, ArmBuild& build) {
  const ClockFunction clock = build_clock_function(
      build.bindir, build.library_directory, folders.root + "/clock", build.version_num, steps);
  build.clock_directory = clock.directory;
  build.clock_reason = clock.reason;
}

void add_counted_server(const ArmFolders& folders, const BuildSystem& system,
                        const BuildSteps& steps, ArmBuild& build) {
  const CountedServer counted = build_counted_server(folders, system, steps);
  build.counted_postgres = counted.postgres;
  build.counted_reason = counted.reason;
  build.counted_method = counted.method;
  if (!counted.postgres.empty()) build.counted_build_id = read_binary(counted.postgres).build_id;
}

void check_out(const ArmFolders& folders, const SourceTree& source, const BuildSteps& steps) {
  // Shares the objects of the mirror, so that `git am --3way` finds the blobs that a patch names.
  steps.require("checking out",
                git_command("/", {"clone", "--quiet", "--shared", "--no-checkout",
                                  source.repository, folders.source()}),
                folders.root);
  steps.require("checking out",
                git_command(folders.source(), {"checkout", "--quiet", "--detach", source.commit}),
                folders.root);
}

void build_from_source(const ArmFolders& folders, const ResolvedArm& arm,
                       const BuildOptions& options, const BuildSteps& steps, ArmBuild& build) {
  check_out(folders, arm.source, steps);
  apply_patches(folders.source(), folders.root, arm.patches, steps);
  const std::unique_ptr<BuildSystem> system = make_build_system(folders, options);
  require_tools(system->tools());
  system->configure(steps);
  system->compile(steps);
  system->install(steps);
  build.bindir = folders.bindir();
  build.library_directory = folders.libdir();
  build.configuration = system->name() + " " + system->configuration();
  read_server(build);
  add_counted_server(folders, *system, steps, build);
  add_clock_function(folders, steps, build);
}

void use_installed(const ArmFolders& folders, const std::string& bindir, const BuildSteps& steps,
                   ArmBuild& build) {
  build.bindir = bindir;
  build.configuration = PgConfig(bindir, "").value("--configure");
  read_server(build);
  build.counted_reason = "the arm is an installed server; build it from source to count its ticks";
  add_clock_function(folders, steps, build);
}

void make(const ArmFolders& folders, const ResolvedArm& arm, const Arm& config,
          const BuildOptions& options, const BuildObserver& observer, ArmBuild& build) {
  remove_tree(folders.root);
  fs::create_directories(folders.root);
  build.log_path = folders.root + "/build.log";
  const BuildSteps steps(config.name, build.log_path, observer);
  const auto start = std::chrono::steady_clock::now();
  if (config.source.kind == ArmSource::Kind::kBindir) {
    use_installed(folders, config.source.location, steps, build);
  } else {
    build_from_source(folders, arm, options, steps, build);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    build.build_seconds = seconds.count();
    read_ccache_log(folders, build);
  }
  build.inputs.built = true;
  write_record(folders, build);
}

}  // namespace

ArmBuilder::ArmBuilder(std::string root, BuildOptions options)
    : root_(std::move(root)), options_(std::move(options)) {
  const OpenUmask umask;
  std::error_code error;
  fs::create_directories(root_ + "/arms", error);
  if (error) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("cannot make '{}': {}", root_ + "/arms", error.message()),
                "name a directory that you can write to");
  }
  root_ = fs::absolute(root_).lexically_normal();
}

ArmInputs ArmBuilder::inputs(const Arm& arm) const {
  const OpenUmask umask;
  ArmInputs inputs = resolve(root_, options_, arm).inputs;
  inputs.built = finished_build(folders_of(root_, inputs), inputs).has_value();
  return inputs;
}

ArmBuild ArmBuilder::build(const Arm& arm, const BuildObserver& observer) const {
  const OpenUmask umask;
  require_tools({"gcc", "git"});
  ArmBuild build;
  build.arm = arm.name;
  try {
    if (observer) observer(arm.name, "finding the sources");
    const ResolvedArm resolved = resolve(root_, options_, arm);
    build.inputs = resolved.inputs;
    const ArmFolders folders = folders_of(root_, build.inputs);
    const FileLock lock(folders.root + ".lock", [&] {
      if (observer) observer(arm.name, "waiting for another build of it");
    });
    if (std::optional<ArmBuild> finished = finished_build(folders, build.inputs)) {
      finished->arm = arm.name;
      return *finished;
    }
    if (arm.source.kind != ArmSource::Kind::kBindir) require_space(root_);
    make(folders, resolved, arm, options_, observer, build);
  } catch (const HostLacks&) {
    throw;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInterrupted) throw;
    build.failure = error.what();
  }
  return build;
}

}  // namespace numabench
