// The run loop: takes each planned run through prepare -> start -> warm-up -> window -> stats ->
// stop and hands its record to the store before the next begins.
//
// It knows nothing of SQLite, terminals or real time: engine, clock, sink and progress are passed
// in, and its tests use fakes for all four.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hosts/error.h"
#include "reports/store.h"
#include "runner/clock.h"
#include "runner/engines/engine.h"
#include "runner/measure/monitor.h"
#include "runner/plan.h"
#include "runner/steady_state.h"

namespace numabench {

/// Who hears of the runs. All calls come from the loop's thread.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void begin(const PlannedRun& run) = 0;
  virtual void stage(const std::string& text) = 0;
  /// Keeps the record for ever; the next run begins when it returns.
  virtual void finish(const PlannedRun& run, RunRecord record) = 0;
};

struct LoopOutcome {
  int ok = 0;
  int failed = 0;  ///< failed or void
  bool interrupted = false;

  LoopOutcome& operator+=(const LoopOutcome& later) {
    ok += later.ok;
    failed += later.failed;
    interrupted = interrupted || later.interrupted;
    return *this;
  }
};

/// Makes the monitors of one window; nullptr or an empty function: nothing is watched.
using MonitorMaker = std::function<std::unique_ptr<Monitor>(const MonitorTarget&)>;

class RunLoop {
 public:
  /// The arguments outlive the loop. `interrupted` is asked at least every 50 ms of waiting.
  RunLoop(const Experiment& experiment, const Host& host, const Plan& plan, Engine& engine,
          Clock& clock, RunObserver& observer, std::function<bool()> interrupted,
          MonitorMaker make_monitor = {});

  /// Runs plan.runs[i] for each i of `pending`, in that order. A run that fails is recorded with
  /// its reason and the loop goes on; an interrupted run leaves no record. Errors of the observer
  /// (the store) end the loop.
  LoopOutcome execute(const std::vector<std::size_t>& pending);

 private:
  RunRecord blank_record(std::size_t index);
  void measure(const PlannedRun& run, RunRecord& record);
  /// All passes, and what they measured.
  void take_passes(const PlannedCell& cell, RunRecord& record);
  /// start -> warm-up -> reset_counters -> window.
  void take_pass(RunRecord& record, const std::string& which);
  void warm_up(RunRecord& record);
  std::string unfinished_warm_up() const;
  void measure_window(RunRecord& record);
  MonitorTarget monitor_target() const;
  /// The waiting of measure_window(); false when the window's limit ended it.
  bool watch_seconds(RunRecord& record, Monitor* monitor);
  /// Once a second in the window.
  void look(double t_seconds, Monitor* monitor);
  static void keep(MonitorRecord seen, RunRecord& record);
  /// The first of each rule.
  void keep(std::vector<Breach> breaches);
  /// Failed, or void when it is a rule that it could not go on for.
  void explain_failure(const Error& error, RunRecord& record);
  void take_stats(const PlannedCell& cell, RunRecord& record);
  /// Says when the speed of the window's seconds drifted or jumped.
  static void judge_seconds(RunRecord& record);
  /// Holds the run to the rules of measure/void_rules.h.
  void judge_run(const PlannedCell& cell, RunRecord& record);
  /// Waits until `span` has passed or the clients have finished; false when `limit_seconds` ended a
  /// span in laps.
  bool wait_for(const Span& span, double limit_seconds,
                const std::function<void(double elapsed_seconds)>& every_second);
  /// False when the warm-up's limit came first.
  bool wait_until_steady();
  /// True when `is_over`; `complete_at_limit` when the time ended it. Throws Error(kInterrupted).
  bool wait_until(double limit_seconds, bool complete_at_limit,
                  const std::function<bool()>& is_over,
                  const std::function<void(double elapsed_seconds)>& every_second);
  const Workload& workload(const PlannedCell& cell);

  const Experiment& experiment_;
  const Host& host_;
  const Plan& plan_;
  Engine& engine_;
  Clock& clock_;
  RunObserver& observer_;
  std::function<bool()> interrupted_;
  MonitorMaker make_monitor_;
  std::map<std::string, std::unique_ptr<Workload>> workloads_;  ///< by label
  double server_started_s_ = 0;                                 ///< of this run, clock_'s
  SteadyState steady_state_;                                    ///< of the newest warm-up
  std::vector<Breach> breaches_;                                ///< of this run, that engines saw
};

}  // namespace numabench
