// What serves the pages: the one interface of every engine.
//
// The run loop drives it: prepare -> start -> (warm-up) -> reset_counters -> (window) -> stats ->
// stop; before all runs, build_arms(). Adding an engine: a folder or .cc here and a line in
// registry.cc (CONTRIBUTING.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/providers/provider.h"
#include "reports/metric.h"
#include "reports/store.h"
#include "runner/arms/arm_build.h"
#include "runner/config/experiment.h"
#include "runner/measure/role_process.h"
#include "runner/measure/void_rules.h"
#include "workloads/workload.h"

namespace numabench {

/// Everything an engine needs to know of one cell; the references outlive the run.
struct CellSetup {
  const Experiment& experiment;
  const Host& host;
  const Arm& arm;
  const Workload& workload;
  const PlacementConfig& placement;
  WorkloadSize size;
  std::uint64_t pool_bytes = 0;
  int clients = 0;
  Regime regime = Regime::kNone;
  /// Hears what prepare() and start() are at when that takes long: "loading accounts, 41 %".
  std::function<void(const std::string& stage)> on_stage = [](const std::string&) {};
};

/// What a run of a cell will take; for `plan` and the preflight.
struct ResourceEstimate {
  std::uint64_t memory_bytes = 0;
  std::uint64_t disk_bytes = 0;      ///< of its data
  std::uint64_t run_disk_bytes = 0;  ///< in addition while it runs
  std::string disk_path;             ///< where; it need not exist yet
  /// What the data are: cells with equal texts share them, those of different texts lie side by
  /// side on the disk. Empty: they are made for each run and removed.
  std::string dataset;
  double dataset_seconds = 0;  ///< to make the data, once
  double setup_seconds = 0;    ///< beside warm-up and window: start, fill, stop
  int passes = 1;              ///< times that warm-up and window are gone through
};

/// Live counters since reset_counters(); cheap to read, never disturbs the clients.
struct EngineProgress {
  /// Of point clients, and finished by scanners; absent where only stats() will know them, because
  /// counting them live would disturb the clients.
  std::optional<std::uint64_t> transactions = 0;
  std::optional<std::uint64_t> scans = 0;
  std::uint64_t accesses = 0;  ///< page accesses of all clients
  std::uint64_t reads = 0;     ///< misses
  double laps = 0;             ///< of the clock hand over the pool, summed over partitions
  double occupancy_pct = 100;  ///< 100 × buffers that hold a page ÷ buffers
  bool finished = false;       ///< the clients have done all they had to: the window is over
};

/// All that stats() found out about the window.
struct EngineStats {
  std::vector<MetricValue> values;
  /// Of metrics that the engine samples better than progress() tells them; they take the place of
  /// the run loop's.
  std::vector<SampleRecord> samples;
  std::vector<EventRecord> events;  ///< warnings of this run, each with advice
  std::vector<PlacementProofRecord> placement_proofs;
  std::vector<PoolMemoryRecord> pool_memory;  ///< before and after the window
  std::vector<ArtifactRecord> artifacts;      ///< reports, settings, histograms
  std::vector<Breach> breaches;  ///< of rules by which the numbers must not count: void_rules.h
};

/// What says why a run came to its end, of what stop() removes.
struct EngineEvidence {
  std::vector<ArtifactRecord> artifacts;  ///< logs
  std::vector<SampleRecord> samples;      ///< of the seconds until then, beside progress()
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;

  /// Empty when this engine can serve the cell, else why not: a bad pair is refused at plan time.
  virtual std::string refuses(const CellSetup& setup) const = 0;
  virtual ResourceEstimate estimate(const CellSetup& setup) const = 0;

  /// What makes `arm` what it is beyond the experiment's text: commits, patches' contents, build
  /// options. Part of the hash of its cells. Throws Error(kUsage) or Error(kPreflight) for an arm
  /// that this engine cannot have. An engine whose arms are policies has nothing to add.
  virtual std::string fingerprint(const Experiment&, const Arm&) const { return ""; }
  /// Builds those of the experiment's `arms` that need it; before the first prepare(). An arm that
  /// fails has its `failure` set and the others go on: its runs fail with that reason.
  virtual std::vector<ArmBuild> build_arms(const Experiment&, const std::vector<Arm>& /*arms*/,
                                           const BuildObserver&) {
    return {};
  }

  /// Makes the data and the pool of one run. Throws Error(kRun).
  virtual void prepare(const CellSetup& setup, std::uint64_t run_seed) = 0;
  /// Fills the pool in the workload's order, then starts the clients: they are in their warm-up
  /// when this returns.
  virtual void start() = 0;
  /// Begins the measured window.
  virtual void reset_counters() = 0;
  virtual EngineProgress progress() const = 0;
  /// The processes of the run, for the monitors; as the window begins.
  virtual std::vector<RoleProcess> processes() const { return {}; }
  /// Where the data lie that misses are read from; empty: nowhere, or in memory.
  virtual std::string data_path() const { return ""; }
  /// A server apart from the clients does the work, so that clients without CPU left bound it.
  virtual bool has_server() const { return false; }
  /// Called once a second in the window, from the run loop's thread: looks that must be made while
  /// the run goes on, such as whether every process still is where its placement put it. Of what it
  /// returns, the first breach of each rule is kept, beside those of stats().
  virtual std::vector<Breach> look() { return {}; }
  /// Throws Error(kRun) as soon as a client or the server has died: BrokenRule where void_rules.h
  /// has a name for it.
  virtual void check_alive() = 0;
  /// Ends the window. True when the run is to be measured once more in another way (a server with
  /// counters in it beside one without): a pass that begins with start(). Its samples are not kept.
  virtual bool another_pass() { return false; }
  /// Ends the window, stops the clients and returns what was measured, after checking that the pool
  /// is consistent.
  virtual EngineStats stats() = 0;
  /// After an error. Never throws.
  virtual EngineEvidence evidence() const { return {}; }
  /// Stops and removes everything that prepare() and start() made; safe at any point, also after an
  /// exception, and more than once.
  virtual void stop() = 0;
};

/// Throws Error(kUsage) naming the known engines; `place` is where the name was written.
std::unique_ptr<Engine> make_engine(const std::string& name, const std::string& place = "");
std::vector<std::string> engine_names();

}  // namespace numabench
