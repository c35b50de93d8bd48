#include "runner/run_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hosts/error.h"
#include "reports/trend.h"
#include "runner/engines/client_placement.h"
#include "runner/measure/broken_rule.h"
#include "runner/measure/conditions.h"

namespace numabench {
namespace {

constexpr double kFullPoolPct = 99.9;   ///< a buffer that was just invalidated is no free pool
constexpr double kSliceSeconds = 0.05;  ///< how long an interrupt or a dead client may go unnoticed

/// The engine is stopped however a run ends.
class StopGuard {
 public:
  explicit StopGuard(Engine& engine) : engine_(engine) {}
  ~StopGuard() { engine_.stop(); }
  StopGuard(const StopGuard&) = delete;
  StopGuard& operator=(const StopGuard&) = delete;

 private:
  Engine& engine_;
};

/// The rates of one second, from two looks at the live counters.
std::vector<SampleRecord> rates(double t_seconds, double seconds, const EngineProgress& before,
                                const EngineProgress& now) {
  std::vector<SampleRecord> samples;
  const auto add = [&](const char* metric, std::optional<std::uint64_t> from,
                       std::optional<std::uint64_t> to) {
    if (to) {
      samples.push_back({t_seconds, metric, static_cast<double>(*to - from.value_or(0)) / seconds});
    }
  };
  add("tps", before.transactions, now.transactions);
  add("scans_per_s", before.scans, now.scans);
  add("reads", before.reads, now.reads);
  if (now.accesses > before.accesses) {
    const double misses = static_cast<double>(now.reads - before.reads) /
                          static_cast<double>(now.accesses - before.accesses);
    samples.push_back({t_seconds, "hit_pct", 100.0 * (1.0 - misses)});
  }
  return samples;
}

/// The experiment's, with what its other keys ask for.
VoidPolicy void_policy(const Experiment& experiment) {
  VoidPolicy policy = experiment.voids;
  if (experiment.require_full_pool) policy.emplace("pool_not_full", RuleSetting{kFullPoolPct, {}});
  return policy;
}

}  // namespace

RunLoop::RunLoop(const Experiment& experiment, const Host& host, const Plan& plan, Engine& engine,
                 Clock& clock, RunObserver& observer, std::function<bool()> interrupted,
                 MonitorMaker make_monitor)
    : experiment_(experiment),
      host_(host),
      plan_(plan),
      engine_(engine),
      clock_(clock),
      observer_(observer),
      interrupted_(std::move(interrupted)),
      make_monitor_(std::move(make_monitor)) {}

LoopOutcome RunLoop::execute(const std::vector<std::size_t>& pending) {
  LoopOutcome outcome;
  for (const std::size_t index : pending) {
    const PlannedRun& run = plan_.runs[index];
    observer_.begin(run);
    RunRecord record = blank_record(index);
    const double start = clock_.now_seconds();
    try {
      measure(run, record);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kInterrupted) {
        outcome.interrupted = true;
        return outcome;
      }
      explain_failure(error, record);
    }
    record.duration_seconds = clock_.now_seconds() - start;
    ++(record.status == RunStatus::kOk ? outcome.ok : outcome.failed);
    observer_.finish(run, std::move(record));
  }
  return outcome;
}

/// Beside its reason stand the other rules that it broke before: a server that crashed may have
/// been killed for want of memory.
void RunLoop::explain_failure(const Error& error, RunRecord& record) {
  record.status = RunStatus::kFailed;
  record.reason = error.what();
  const auto* broken = dynamic_cast<const BrokenRule*>(&error);
  if (broken != nullptr) keep({broken->breach()});
  Ruling ruling =
      judge(breaches_, record.values, void_policy(experiment_), experiment_.is_publishable());
  if (broken != nullptr && !ruling.void_reason.empty()) {
    record.status = RunStatus::kVoid;
    record.reason = std::exchange(ruling.void_reason, "");
  }
  if (!ruling.void_reason.empty()) ruling.warnings.push_back(ruling.void_reason);
  for (std::string& broken : ruling.warnings) record.events.push_back({"error", std::move(broken)});
}

RunRecord RunLoop::blank_record(std::size_t index) {
  const PlannedRun& run = plan_.runs[index];
  RunRecord record;
  record.repetition = run.repetition;
  record.run_order = static_cast<int>(index) + 1;
  record.block = run.block;
  record.block_position = run.block_position;
  record.addition = run.addition;
  record.seed = run.seed;
  record.started_at = clock_.wall_time();
  return record;
}

void RunLoop::measure(const PlannedRun& run, RunRecord& record) {
  const PlannedCell& cell = plan_.cells[run.cell];
  const StopGuard stop(engine_);
  breaches_.clear();
  CellSetup setup = cell_setup(experiment_, host_, cell, workload(cell));
  for (const std::string& note : placement_notes(setup.placement, host_.topology)) {
    record.events.push_back({"warning", note});
  }
  setup.on_stage = [this](const std::string& stage) {
    if (interrupted_()) throw Error(ErrorKind::kInterrupted, "interrupted");
    observer_.stage(stage);
  };
  try {
    engine_.prepare(setup, run.seed);
    server_started_s_ = clock_.now_seconds();
    take_passes(cell, record);
  } catch (const Error&) {
    EngineEvidence evidence = engine_.evidence();
    std::ranges::move(evidence.artifacts, std::back_inserter(record.artifacts));
    std::ranges::move(evidence.samples, std::back_inserter(record.samples));
    throw;
  }
}

void RunLoop::take_passes(const PlannedCell& cell, RunRecord& record) {
  take_pass(record, "");
  while (engine_.another_pass()) {
    RunRecord unkept;
    take_pass(unkept, ", once more");
    std::ranges::move(unkept.events, std::back_inserter(record.events));
  }
  take_stats(cell, record);
}

void RunLoop::take_pass(RunRecord& record, const std::string& which) {
  observer_.stage("filling the pool" + which);
  engine_.start();
  observer_.stage("warm-up" + which);
  warm_up(record);
  observer_.stage("measuring" + which);
  engine_.reset_counters();
  measure_window(record);
}

void RunLoop::warm_up(RunRecord& record) {
  const double start = clock_.now_seconds();
  const bool complete = experiment_.warmup.unit == Span::Unit::kSteady
                            ? wait_until_steady()
                            : wait_for(experiment_.warmup, experiment_.warmup_limit_seconds, {});
  if (!complete) record.events.push_back({"warning", unfinished_warm_up()});
  record.values.push_back(MetricValue::of("warmup_s", clock_.now_seconds() - start));
  record.values.push_back(
      MetricValue::of("server_age_s", clock_.now_seconds() - server_started_s_));
}

std::string RunLoop::unfinished_warm_up() const {
  if (experiment_.warmup.unit == Span::Unit::kSteady) {
    return fmt::format(
        "unsettled: the warm-up ended at its limit of {} s before the pool and the hit ratio were "
        "steady ({}); raise warmup_limit",
        experiment_.warmup_limit_seconds, steady_state_.moving());
  }
  return fmt::format(
      "the warm-up ended at its limit of {} s after {:.2f} of {}; raise warmup_limit or ask for "
      "fewer laps",
      experiment_.warmup_limit_seconds, engine_.progress().laps, experiment_.warmup.text());
}

MonitorTarget RunLoop::monitor_target() const {
  MonitorTarget target;
  target.processes = engine_.processes();
  for (const RoleProcess& process : target.processes) {
    const IdSet& cpus = process.cpus.empty() ? host_.topology.allowed_cpus() : process.cpus;
    target.cpus.insert(cpus.begin(), cpus.end());
  }
  for (const Cpu& cpu : host_.topology.cpus()) target.node_of_cpu[cpu.id] = cpu.node;
  for (const Node& node : host_.topology.nodes()) target.nodes.insert(node.id);
  target.data_path = engine_.data_path();
  target.has_server = engine_.has_server();
  target.pss = experiment_.monitors.pss;
  target.perf = experiment_.monitors.perf;
  return target;
}

void RunLoop::keep(std::vector<Breach> breaches) {
  for (Breach& breach : breaches) {
    const bool known = std::ranges::count(breaches_, breach.rule, &Breach::rule) > 0;
    if (!known) breaches_.push_back(std::move(breach));
  }
}

void RunLoop::look(double t_seconds, Monitor* monitor) {
  keep(engine_.look());
  if (monitor != nullptr) monitor->look(t_seconds);
}

/// What an engine measures itself takes the place of the monitors' when take_stats() comes.
void RunLoop::keep(MonitorRecord seen, RunRecord& record) {
  std::ranges::move(seen.samples, std::back_inserter(record.samples));
  std::ranges::move(seen.values, std::back_inserter(record.values));
  std::ranges::move(seen.artifacts, std::back_inserter(record.artifacts));
}

bool RunLoop::watch_seconds(RunRecord& record, Monitor* monitor) {
  EngineProgress before;
  double before_seconds = 0;
  return wait_for(
      experiment_.duration, experiment_.duration_limit_seconds, [&](double elapsed_seconds) {
        const EngineProgress now = engine_.progress();
        std::ranges::move(rates(elapsed_seconds, elapsed_seconds - before_seconds, before, now),
                          std::back_inserter(record.samples));
        before = now;
        before_seconds = elapsed_seconds;
        look(elapsed_seconds, monitor);
      });
}

void RunLoop::measure_window(RunRecord& record) {
  const MonitorTarget target = monitor_target();
  const QuietCorner corner(host_.topology.allowed_cpus(), target.cpus);
  const bool watch = experiment_.monitors.host && make_monitor_;
  const std::unique_ptr<Monitor> monitor = watch ? make_monitor_(target) : nullptr;
  bool complete = false;
  try {
    complete = watch_seconds(record, monitor.get());
  } catch (const Error&) {
    if (monitor) keep(monitor->finish(), record);  // its seconds may say why it failed
    throw;
  }
  if (monitor) keep(monitor->finish(), record);
  if (!complete) {
    record.events.push_back(
        {"warning", fmt::format("the window ended at its limit of {} s before {}; raise "
                                "duration_limit or ask for fewer laps",
                                experiment_.duration_limit_seconds, experiment_.duration.text())});
  }
}

void RunLoop::take_stats(const PlannedCell& cell, RunRecord& record) {
  EngineStats stats = engine_.stats();
  std::erase_if(record.samples, [&](const SampleRecord& own) {
    return std::ranges::find(stats.samples, own.metric, &SampleRecord::metric) !=
           stats.samples.end();
  });
  std::ranges::move(stats.samples, std::back_inserter(record.samples));
  std::erase_if(record.values, [&](const MetricValue& own) {
    return find_value(stats.values, own.metric) != nullptr;
  });
  std::ranges::move(stats.values, std::back_inserter(record.values));
  std::ranges::move(stats.events, std::back_inserter(record.events));
  record.placement_proofs = std::move(stats.placement_proofs);
  record.pool_memory = std::move(stats.pool_memory);
  std::ranges::move(stats.artifacts, std::back_inserter(record.artifacts));
  keep(std::move(stats.breaches));
  judge_seconds(record);
  judge_run(cell, record);
}

void RunLoop::judge_seconds(RunRecord& record) {
  std::vector<double> tps;
  for (const SampleRecord& sample : record.samples) {
    if (sample.metric == "tps") tps.push_back(sample.value);
  }
  Settling settling = judge_settling(tps);
  std::ranges::move(settling.values, std::back_inserter(record.values));
  if (settling.unsettled.empty()) return;
  record.events.push_back({"warning", fmt::format("unsettled: {}; see the picture of its seconds "
                                                  "(report --run), warm up longer",
                                                  settling.unsettled)});
}

void RunLoop::judge_run(const PlannedCell& cell, RunRecord& record) {
  const Workload& asked = workload(cell);
  AskedConditions conditions;
  conditions.huge_pages = experiment_.huge_pages == SharedRegion::HugePages::kOn;
  conditions.has_server = engine_.has_server();
  if (asked.has_streams()) {
    conditions.working_set_ratio =
        static_cast<double>(cell.working_set_bytes) / static_cast<double>(cell.factors.pool_bytes);
  }
  std::ranges::move(condition_values(record.values, conditions), std::back_inserter(record.values));
  Ruling ruling =
      judge(breaches_, record.values, void_policy(experiment_), experiment_.is_publishable());
  for (std::string& warning : ruling.warnings) {
    record.events.push_back({"warning", std::move(warning)});
  }
  if (ruling.void_reason.empty()) return;
  record.status = RunStatus::kVoid;
  record.reason = ruling.void_reason;
}

bool RunLoop::wait_for(const Span& span, double limit_seconds,
                       const std::function<void(double)>& every_second) {
  const bool in_laps = span.unit == Span::Unit::kLaps;
  return wait_until(
      in_laps ? limit_seconds : span.amount, !in_laps,
      [&] {
        const EngineProgress progress = engine_.progress();
        return progress.finished || (in_laps && progress.laps >= span.amount);
      },
      every_second);
}

bool RunLoop::wait_until_steady() {
  steady_state_ = {};
  return wait_until(
      experiment_.warmup_limit_seconds, false, [&] { return steady_state_.is_reached(); },
      [&](double) { steady_state_.add(engine_.progress()); });
}

bool RunLoop::wait_until(double limit_seconds, bool complete_at_limit,
                         const std::function<bool()>& is_over,
                         const std::function<void(double elapsed_seconds)>& every_second) {
  const double start = clock_.now_seconds();
  double next_second = 1;
  while (true) {
    const double elapsed = clock_.now_seconds() - start;
    if (interrupted_()) throw Error(ErrorKind::kInterrupted, "interrupted");
    engine_.check_alive();
    if (every_second && elapsed >= next_second) {
      every_second(elapsed);
      next_second = elapsed + 1;
    }
    if (is_over()) return true;
    if (elapsed >= limit_seconds) return complete_at_limit;
    clock_.sleep(std::min(kSliceSeconds, limit_seconds - elapsed));
  }
}

const Workload& RunLoop::workload(const PlannedCell& cell) {
  std::unique_ptr<Workload>& workload = workloads_[cell.factors.workload];
  if (!workload) workload = make_cell_workload(experiment_, cell.factors);
  return *workload;
}

}  // namespace numabench
