// An engine without a pool: it records what it is asked to do and follows a script of failures.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hosts/error.h"
#include "runner/clock.h"
#include "runner/engines/engine.h"
#include "runner/measure/broken_rule.h"

namespace numabench {

/// Time that passes only when somebody sleeps.
class FakeClock : public Clock {
 public:
  double now_seconds() override { return now_; }
  void sleep(double seconds) override {
    now_ += seconds;
    ++sleeps_;
    if (on_sleep) on_sleep(now_);
  }
  std::string wall_time() override { return "2026-01-01T00:00:00Z"; }

  std::function<void(double now_seconds)> on_sleep;
  int sleeps() const { return sleeps_; }

 private:
  double now_ = 1000;
  int sleeps_ = 0;
};

class FakeEngine : public Engine {
 public:
  explicit FakeEngine(Clock& clock) : clock_(clock) {}

  std::string_view name() const override { return "fake"; }
  std::string refuses(const CellSetup& setup) const override {
    return setup.arm.name == refused_arm ? "it is not served here" : "";
  }
  ResourceEstimate estimate(const CellSetup& setup) const override {
    ResourceEstimate estimate;
    estimate.memory_bytes = setup.pool_bytes;
    estimate.disk_bytes = 7 * setup.pool_bytes;
    estimate.setup_seconds = 0.5;
    return estimate;
  }
  void prepare(const CellSetup& setup, std::uint64_t run_seed) override {
    log.push_back("prepare " + setup.arm.name + " " + setup.experiment.workloads[0].label);
    seeds.push_back(run_seed);
    if (fail_in == "prepare") throw Error(ErrorKind::kRun, "no memory");
  }
  void start() override {
    log.emplace_back("start");
    started_at_ = clock_.now_seconds();
  }
  void reset_counters() override {
    log.emplace_back("reset_counters");
    started_at_ = clock_.now_seconds();
  }
  EngineProgress progress() const override {
    const double seconds = clock_.now_seconds() - started_at_;
    EngineProgress progress;
    progress.transactions = static_cast<std::uint64_t>(
        1000 * seconds + speeds_up_by_a_second * seconds * seconds / 2 + 0.5);
    progress.accesses = 4 * *progress.transactions;
    progress.reads = *progress.transactions;
    progress.laps = laps_per_second * seconds;
    if (fills_in_seconds > 0) {
      progress.occupancy_pct = std::min(100.0, 100.0 * seconds / fills_in_seconds);
    }
    progress.finished = seconds >= finishes_at_seconds;
    return progress;
  }
  void check_alive() override {
    if (clock_.now_seconds() < dies_at_seconds) return;
    if (dies_of) throw BrokenRule(*dies_of);
    throw Error(ErrorKind::kRun, "client 3 was killed by signal 9");
  }
  bool another_pass() override {
    if (passes_left == 0) return false;
    --passes_left;
    return true;
  }
  EngineStats stats() override {
    log.emplace_back("stats");
    window_seconds.push_back(clock_.now_seconds() - started_at_);
    EngineStats stats;
    stats.values.push_back(MetricValue::of("tps", 1000));
    stats.values.push_back(MetricValue::of("transactions", transactions));
    stats.values.push_back(MetricValue::of("occupancy_before_pct", occupancy_before_pct));
    if (!escaped.empty()) stats.breaches.push_back({"placement_escaped", escaped});
    return stats;
  }
  std::vector<Breach> look() override { return seen_each_second; }
  EngineEvidence evidence() const override {
    return {{{"server.log", "PANIC"}}, {{1, "tps", 900}}};
  }
  void stop() override { log.emplace_back("stop"); }

  std::vector<std::string> log;
  std::vector<std::uint64_t> seeds;
  std::vector<double> window_seconds;
  std::string refused_arm;
  std::string fail_in;
  std::string escaped;
  double dies_at_seconds = 1e18;
  std::optional<Breach> dies_of;  ///< nullopt: of what no rule has a name for
  double laps_per_second = 1;
  double fills_in_seconds = 0;        ///< 0: the pool is full at once
  double finishes_at_seconds = 1e18;  ///< of the warm-up or the window
  double occupancy_before_pct = 100;
  int passes_left = 0;
  double transactions = 1000;
  double speeds_up_by_a_second = 0;  ///< transactions a second
  std::vector<Breach> seen_each_second;

 private:
  Clock& clock_;
  double started_at_ = 0;
};

/// Two arms × zipfian and uniform × two ratios on one pool, two runs a cell.
inline Experiment small_experiment() {
  Experiment experiment;
  experiment.name = "small";
  experiment.engine = "fake";
  experiment.baseline = "stock";
  experiment.arms = {{"stock", "", {}}, {"bounded", "", {}}};
  experiment.arms[1].policy.bound = 128;
  experiment.workloads = {{"zipfian", "zipfian", {}}, {"uniform", "uniform", {}}};
  experiment.placements = {{"free", {}, {}}};
  experiment.runs = 2;
  experiment.drift_control = false;
  experiment.warmup = {1.0, Span::Unit::kSeconds};
  experiment.duration = {2.5, Span::Unit::kSeconds};
  experiment.warmup_limit_seconds = 60;
  experiment.duration_limit_seconds = 60;
  experiment.seed = 42;
  for (const Arm& arm : experiment.arms) {
    for (const WorkloadConfig& workload : experiment.workloads) {
      for (const double ratio : {1.15, 2.0}) {
        experiment.cells.push_back(
            {arm.name, workload.label, Regime::kNone, "free", 8 << 20, ratio, 4});
      }
    }
  }
  return experiment;
}

inline Host small_host() {
  return {"local", Topology::of_synthetic("pack:1 core:4 pu:1"), {"test-host", {}}};
}

}  // namespace numabench
