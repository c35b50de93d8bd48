// The typed experiment: what a config says once every value is resolved against a host.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hosts/placement.h"
#include "hosts/shared_region.h"
#include "runner/config/pool_policy.h"
#include "runner/measure/void_rules.h"
#include "workloads/workload.h"

namespace numabench {

/// Where a value came from.
struct Origin {
  std::string file;  ///< a path, "--set a.b=c", "--smoke", …; empty: the built-in default
  int line = 0;      ///< 1-based; 0 when not from a file
  int column = 0;
  std::string
      expression;  ///< "2 * cpus": what the value was computed from; empty when written as it is

  std::string text() const;  ///< "configs/quick.yaml:12:3", "--set runs=5", "default"
};

/// Where the sources of an arm come from (PostgreSQL engine).
struct ArmSource {
  enum class Kind {
    kNone,     ///< the arm has no sources: it is a policy of the embedded engine
    kGit,      ///< a repository, cloned once, and a commit, tag or branch of it
    kTarball,  ///< a release archive
    kDebian,   ///< a source package of the distribution: "postgresql-15"
    kBindir,   ///< installed already: the folder with postgres and initdb in it
  };
  Kind kind = Kind::kNone;
  std::string location;  ///< URL or absolute path, or the name of the package
  std::string commit;    ///< of kGit

  bool operator==(const ArmSource&) const = default;
};

/// One thing being compared.
struct Arm {
  std::string name;
  std::string description;
  PoolPolicy policy;      ///< embedded engine
  ArmSource source = {};  ///< PostgreSQL engine
  /// Absolute paths of patch files, mboxes and mails, in the order in which they are applied;
  /// patterns are expanded. Those of the arm that this one extends come first.
  std::vector<std::string> patches = {};
  /// Only so many of the patches in those files; an arm of `series: each-prefix`. 0: all of them.
  int patch_limit = 0;
  /// The arm that `series: each-prefix` was written in; empty for others.
  std::string series = {};
  std::map<std::string, std::string> settings = {};  ///< server settings, text as written
  /// The arm that this one is a second copy of (A/A, baseline_copy.h); empty for others.
  std::string copy_of = {};

  bool operator==(const Arm&) const = default;
};

/// How arms are built: the same for all of an experiment.
struct BuildOptions {
  enum class System {
    kAuto,  ///< meson where the tree has it, else autoconf
    kMeson,
    kAutoconf,
  };
  System system = System::kAuto;
  std::vector<std::string> options;  ///< further ones for configure or meson setup
  std::string cflags = "-O2 -g -fno-omit-frame-pointer";

  bool operator==(const BuildOptions&) const = default;
};

/// How pgbench is run (PostgreSQL engine).
struct PgbenchOptions {
  enum class Protocol { kSimple, kExtended, kPrepared };
  std::string program = {};  ///< of all arms; empty: that of the baseline arm's installation
  Protocol protocol = Protocol::kPrepared;
  int jobs = 0;     ///< threads; 0: as many as clients, at most the CPUs they may run on
  double rate = 0;  ///< transactions a second of the point clients; 0: as fast as they can
  /// Share of the point clients' transactions that is logged; without it, as many as cost each
  /// thread little: logged_share() of runner/engines/postgres/pgbench.h.
  std::optional<double> log_sampling = {};

  bool operator==(const PgbenchOptions&) const = default;
};

/// Which server binary the counters inside the sweep (`tail`, exact ticks) come from.
enum class Counters {
  kNone,          ///< the arm as built; they stay absent
  kSameBuild,     ///< every run is of the counted binary
  kCountedBuild,  ///< each run measures the binary as built, then counts the same with the other
};

/// What becomes of an experiment on a host whose numbers are not fit to publish
/// (hosts/doctor/host_check.h).
enum class HostChecks {
  kEnforce,  ///< it does not run without --force
  kWarn,     ///< it runs, and every table says so
  kOff,      ///< nobody looks
};

/// What a miss is answered from, and so which question a cell answers.
enum class Regime {
  kNone,       ///< nothing is read: only the bookkeeping of the pool (embedded engine)
  kResident,   ///< the working set fits into the pool: after the warm-up nothing is read
  kPageCache,  ///< memory outside the pool: warmed before the run, never dropped
  kRealIo,     ///< the device: caches are dropped before each run
};
std::string to_string(Regime regime);  ///< "none", "resident", "page-cache", "real-io"

struct WorkloadConfig {
  std::string name;            ///< of the registry
  std::string label;           ///< unique in the experiment; the name when not given
  ParameterValues parameters;  ///< all of them, defaults included

  bool operator==(const WorkloadConfig&) const = default;
};

/// How the clients of a role are dealt to the CPUs that it may use: one CPU each, in this order.
enum class Spread {
  kNone,      ///< not dealt: each client may use all of them
  kCores,     ///< core after core; second hardware threads when every core has a client
  kNodes,     ///< nodes in turn
  kPackages,  ///< packages in turn
  kSmtLast,   ///< nodes in turn; second hardware threads when every core of every node has a client
};
std::string to_string(Spread spread);  ///< "none", "cores", "nodes", "packages", "smt-last"

/// A named set of placements by role: "server", "clients", "scanners", "background_writer" and
/// "loader", who brings the data into memory.
struct PlacementConfig {
  std::string name;
  std::map<std::string, Spread> spreads;   ///< of "clients" and "scanners"; absent: kNone
  std::map<std::string, Placement> roles;  ///< absent roles are free
  /// Why no cell of it can run on this host, whose nodes it would go by; it has no roles then.
  /// Empty where it can.
  std::string refusal = {};

  bool operator==(const PlacementConfig&) const = default;
};

/// A length of time, a number of laps of the clock hand over the pool, or as long as it takes.
struct Span {
  enum class Unit {
    kSeconds,
    kLaps,
    kSteady,  ///< until the pool is full and the hit ratio is steady; of a warm-up only
  };
  double amount = 0;  ///< of seconds or laps
  Unit unit = Unit::kSeconds;

  std::string text() const;  ///< "1.5s", "3 laps", "steady"
  bool operator==(const Span&) const = default;
};

/// In which order the runs of a plan are taken.
enum class RunOrder {
  kBlocked,  ///< the arms of a group close together, each repetition in a rotated order
  kConfig,   ///< cell by cell as the config has them: drift becomes a difference of arms
  kRandom,   ///< all runs shuffled by the seed
};
std::string to_string(RunOrder order);  ///< "blocked", "config", "random"

/// What is watched once a second while a window is measured, beside the engine's own counters.
struct MonitorOptions {
  bool host = true;   ///< /proc and /sys: CPUs, nodes, memory, disk, the run's processes
  bool pss = false;   ///< proportional set sizes: the kernel walks the page tables of every process
  bool perf = false;  ///< hardware counters of the server's processes, which slow them a little

  bool operator==(const MonitorOptions&) const = default;
};

/// One combination of the factors; the product of a matrix block, before the order is decided.
struct FactorSet {
  std::string arm;
  std::string workload;  ///< label
  Regime regime = Regime::kNone;
  std::string placement;  ///< name
  std::uint64_t pool_bytes = 0;
  double ratio = 0;
  int clients = 0;
  /// As the experiment holds it, in whole pages, so that one data set serves all pools; 0 where the
  /// pool is held: then it is ratio × pool.
  std::uint64_t working_set_bytes = 0;

  bool operator==(const FactorSet&) const = default;
};

struct Experiment {
  std::string name;
  std::string notes;
  std::string engine = "embedded";
  std::string baseline;  ///< an arm's name; the first arm when not given
  std::vector<Arm> arms;
  std::vector<WorkloadConfig> workloads;
  std::vector<PlacementConfig> placements;
  std::vector<FactorSet>
      cells;  ///< matrix, zip and exclude applied; in config order, no duplicates
  /// Of the backing file (embedded engine) or of builds and datasets; empty: the engine's choice.
  std::string data_directory;
  BuildOptions build;                           ///< of the arms with sources
  std::map<std::string, std::string> settings;  ///< of every arm's server; an arm's own win
  std::string server_user;  ///< who runs the servers when we are root; empty: found or created
  PgbenchOptions pgbench;
  Counters counters = Counters::kSameBuild;
  bool require_full_pool =
      false;  ///< a run whose pool had free buffers as its window began is void
  HostChecks host_checks = HostChecks::kWarn;
  /// Values that the host should have, by the check's name with '_' for blanks.
  std::map<std::string, std::string> host_settings;
  double scale = 1;  ///< what --scale-to-host multiplied every size by
  SharedRegion::HugePages huge_pages = SharedRegion::HugePages::kTry;
  /// Cycles of the background writer and the balancer while a whole pool would be filled; 0: the
  /// fill is over before the first. The default is 4 GiB read at 1 GB/s, a cycle each 200 ms.
  int fill_cycles = 20;
  int runs = 3;
  RunOrder order = RunOrder::kBlocked;
  bool pairs_abba = false;    ///< blocked order: every other repetition backwards, none rotated
  bool drift_control = true;  ///< the first run once more at the end, outside the medians
  MonitorOptions monitors;
  VoidPolicy voids;  ///< what this experiment changes about the rules of void_rules.h
  Span warmup{1.0, Span::Unit::kSeconds};
  Span duration{5.0, Span::Unit::kSeconds};
  double warmup_limit_seconds =
      0;  ///< where a warm-up that is not a time ends at the latest; else 0
  double duration_limit_seconds = 0;  ///< a window in laps ends here at the latest; else 0
  std::uint64_t seed = 1;
  bool smoke = false;

  const Arm& arm(const std::string& name) const;
  const WorkloadConfig& workload(const std::string& label) const;
  const PlacementConfig& placement(const std::string& name) const;
  /// Seconds that a warm-up, or a window, takes at the longest: one in laps ends at its limit.
  double longest_warmup_seconds() const;
  double longest_duration_seconds() const;

  /// Long enough that what else the host does must not excuse a number: a minute, and no smoke run.
  bool is_publishable() const;

  bool operator==(const Experiment&) const = default;
};

/// A loaded config with what reports and errors need of its source.
struct LoadedExperiment {
  Experiment experiment;
  std::string source_text;                ///< the file as written
  std::map<std::string, Origin> origins;  ///< by dotted path: "arms.stock.policy.bound"
};

}  // namespace numabench
