#include "runner/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "hosts/error.h"
#include "hosts/units.h"
#include "reports/digest.h"
#include "runner/config/server_section.h"
#include "workloads/dataset.h"

namespace numabench {
namespace {

std::string describe_settings(const std::map<std::string, std::string>& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += fmt::format(" {}={}", name, value);
  return text;
}

/// What a server's engine is told beside the factors.
std::string describe_server(const Experiment& experiment) {
  const PgbenchOptions& pgbench = experiment.pgbench;
  return fmt::format("settings={}\npgbench={} {} {} {} {}\ncounters={} full_pool={}\n",
                     describe_settings(experiment.settings), pgbench.program,
                     to_string(pgbench.protocol), pgbench.jobs, format_exact(pgbench.rate),
                     log_sampling_text(pgbench), to_string(experiment.counters),
                     experiment.require_full_pool);
}

/// Everything but the arm that makes a cell's result what it is.
std::string canonical_group(const Experiment& experiment, const FactorSet& factors,
                            const Workload& workload) {
  std::string text = fmt::format(
      "engine={}\nworkload={}\n{}\nregime={}\nplacement={}\npool={}\nratio={}\nclients={}\n"
      "huge_pages={}\nfill_cycles={}\nwarmup={}\nduration={}\nlimits={} {}\nseed={}\nsmoke={}\n",
      experiment.engine, experiment.workload(factors.workload).name,
      describe_parameters(experiment.workload(factors.workload)), to_string(factors.regime),
      describe_placement(experiment.placement(factors.placement)), factors.pool_bytes,
      format_exact(factors.ratio), factors.clients, static_cast<int>(experiment.huge_pages),
      experiment.fill_cycles, experiment.warmup.text(), experiment.duration.text(),
      format_exact(experiment.warmup_limit_seconds),
      format_exact(experiment.duration_limit_seconds), experiment.seed, experiment.smoke);
  const std::string held = factors.working_set_bytes == 0
                               ? ""
                               : fmt::format("working_set={}\n", factors.working_set_bytes);
  return text + held + describe_server(experiment) + workload.fingerprint();
}

/// Why a host whose nodes contradict each other cannot run the cell; empty where it can.
std::string why_left_out(const Experiment& experiment, const Host& host, const FactorSet& factors) {
  const PlacementConfig& placement = experiment.placement(factors.placement);
  if (!placement.refusal.empty()) {
    return fmt::format("placement '{}': {}", placement.name, placement.refusal);
  }
  const std::string& defect = host.topology.numa_defect();
  if (defect.empty() || !experiment.arm(factors.arm).policy.goes_by_nodes()) return "";
  return fmt::format("arm '{}': it goes by nodes, which cannot be trusted here: {}", factors.arm,
                     defect);
}

void check_any_is_left(const Plan& plan) {
  if (!plan.cells.empty() || plan.left_out.empty()) return;
  throw Error(
      ErrorKind::kPreflight,
      fmt::format("this host can run no cell: {}", describe_left_out(plan).front()),
      "take placements by CPUs (--set placements=[free]) and arms that are not partitioned by "
      "node");
}

PlannedCell plan_cell(const Experiment& experiment, const Host& host, const Engine& engine,
                      const FactorSet& factors) {
  PlannedCell cell;
  cell.factors = factors;
  cell.size = {factors.pool_bytes / kPageBytes, factors.ratio,
               factors.working_set_bytes / kPageBytes};
  const std::unique_ptr<Workload> workload = make_cell_workload(experiment, factors);
  cell.working_set_bytes = workload->dataset(cell.size).bytes();
  const CellSetup setup = cell_setup(experiment, host, cell, *workload);
  if (const std::string refusal = engine.refuses(setup); !refusal.empty()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("arm '{}' with workload '{}': {}", factors.arm, factors.workload, refusal),
        "change the arm or leave the pair out with `exclude`");
  }
  const std::string group_text = canonical_group(experiment, factors, *workload);
  cell.group = sha256_hex(group_text);
  // With its name: two arms that are the same otherwise (A/A) have cells of their own.
  cell.hash =
      sha256_hex(fmt::format("{}arm={} {} {}", group_text, setup.arm.name, describe_arm(setup.arm),
                             engine.fingerprint(experiment, setup.arm)));
  cell.estimate = engine.estimate(setup);
  return cell;
}

void check_placements(const Experiment& experiment, const Host& host) {
  for (const PlacementConfig& placement : experiment.placements) {
    for (const auto& [role, roles_placement] : placement.roles) {
      try {
        check(roles_placement, host.topology);
      } catch (const Error& error) {
        throw Error(
            error.kind(),
            fmt::format("placement '{}', role {}: {}", placement.name, role, error.problem()),
            error.remedy());
      }
    }
  }
}

/// The cells of each group, groups in the order in which the config first names them.
std::vector<std::vector<std::size_t>> group_cells(const std::vector<PlannedCell>& cells) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto [entry, is_new] = index.try_emplace(cells[i].group, groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].push_back(i);
  }
  return groups;
}

/// Which cells of a group a repetition takes, in order.
std::vector<std::size_t> turn(const Experiment& experiment, const std::vector<std::size_t>& group,
                              std::uint64_t first, int repetition) {
  std::vector<std::size_t> cells = group;
  if (experiment.pairs_abba) {
    // A B, B A, A B, …: in each pair of repetitions a steady drift adds the same to every arm.
    if ((first + static_cast<std::uint64_t>(repetition)) % 2 == 0) std::ranges::reverse(cells);
    return cells;
  }
  // A cyclic Latin square: in as many repetitions as there are arms, each arm has each place once.
  const std::uint64_t places = (first + static_cast<std::uint64_t>(repetition)) % cells.size();
  std::rotate(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(places), cells.end());
  return cells;
}

std::vector<PlannedRun> blocked_runs(const Experiment& experiment,
                                     const std::vector<PlannedCell>& cells) {
  std::vector<PlannedRun> runs;
  int block = 0;
  for (const std::vector<std::size_t>& group : group_cells(cells)) {
    const std::string& group_hash = cells[group.front()].group;
    const std::uint64_t first = block_seed(experiment.seed, group_hash, 0);
    for (int repetition = 1; repetition <= experiment.runs; ++repetition) {
      int position = 0;
      for (const std::size_t cell : turn(experiment, group, first, repetition)) {
        runs.push_back({cell, repetition, block, position++,
                        block_seed(experiment.seed, group_hash, repetition)});
      }
      ++block;
    }
  }
  return runs;
}

/// Fisher and Yates's shuffle: std::shuffle differs between libraries, and the order is a part of
/// what a seed stands for.
void shuffle(std::vector<PlannedRun>& runs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t left = runs.size(); left > 1; --left) {
    std::swap(runs[left - 1], runs[random() % left]);
  }
}

/// Where a run stands among those of its block, which may lie far apart.
void count_positions(std::vector<PlannedRun>& runs) {
  std::map<int, int> seen;
  for (PlannedRun& run : runs) run.block_position = seen[run.block]++;
}

std::vector<PlannedRun> order_runs(const Experiment& experiment,
                                   const std::vector<PlannedCell>& cells) {
  std::vector<PlannedRun> runs = blocked_runs(experiment, cells);
  if (experiment.order == RunOrder::kBlocked) return runs;
  std::ranges::stable_sort(
      runs, {}, [](const PlannedRun& run) { return std::pair(run.cell, run.repetition); });
  if (experiment.order == RunOrder::kRandom) shuffle(runs, experiment.seed);
  count_positions(runs);
  return runs;
}

}  // namespace

std::uint64_t block_seed(std::uint64_t seed, const std::string& group, int repetition) {
  const std::string digest = sha256_hex(fmt::format("{} {} {}", seed, group, repetition));
  return std::stoull(digest.substr(0, 16), nullptr, 16);
}

std::string describe_arm(const Arm& arm) {
  std::string text;
  for (const PolicyOption& option : policy_options()) {
    text += fmt::format("{}={} ", option.name, policy_option(arm.policy, option.name));
  }
  text.pop_back();
  if (!arm.settings.empty()) text += " settings:" + describe_settings(arm.settings);
  return text;
}

std::string describe_placement(const PlacementConfig& placement) {
  std::vector<std::string> roles;
  for (const auto& [role, where] : placement.roles) {
    roles.push_back(fmt::format("{} {}", role, describe(where)));
  }
  for (const auto& [role, spread] : placement.spreads) {
    roles.push_back(fmt::format("{} spread: {}", role, to_string(spread)));
  }
  return fmt::format("{}: {}", placement.name, fmt::join(roles, "; "));
}

std::unique_ptr<Workload> make_cell_workload(const Experiment& experiment,
                                             const FactorSet& factors) {
  const WorkloadConfig& config = experiment.workload(factors.workload);
  return make_workload(config.name, config.parameters);
}

std::string describe_parameters(const WorkloadConfig& workload) {
  std::string text;
  for (const auto& [name, value] : workload.parameters) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

double estimated_run_seconds(const Experiment& experiment, const PlannedCell& cell) {
  const double pass = experiment.longest_warmup_seconds() + experiment.longest_duration_seconds();
  return cell.estimate.setup_seconds + cell.estimate.passes * pass;
}

CellSetup cell_setup(const Experiment& experiment, const Host& host, const PlannedCell& cell,
                     const Workload& workload) {
  return {experiment,
          host,
          experiment.arm(cell.factors.arm),
          workload,
          experiment.placement(cell.factors.placement),
          cell.size,
          cell.factors.pool_bytes,
          cell.factors.clients,
          cell.factors.regime};
}

Plan make_plan(const Experiment& experiment, const Host& host, const Engine& engine) {
  check_placements(experiment, host);
  Plan plan;
  for (const FactorSet& factors : experiment.cells) {
    if (std::string reason = why_left_out(experiment, host, factors); !reason.empty()) {
      plan.left_out.push_back({factors, std::move(reason)});
    } else {
      plan.cells.push_back(plan_cell(experiment, host, engine, factors));
    }
  }
  check_any_is_left(plan);
  plan.runs = order_runs(experiment, plan.cells);
  add_drift_control(experiment, plan);
  add_up(experiment, plan);
  return plan;
}

std::vector<std::string> describe_left_out(const Plan& plan) {
  std::map<std::string, std::size_t> counts;
  for (const LeftOutCell& cell : plan.left_out) ++counts[cell.reason];
  std::vector<std::string> lines;
  for (const auto& [reason, count] : counts) {
    lines.push_back(fmt::format("{} of {} cells are left out, {}", count,
                                plan.cells.size() + plan.left_out.size(), reason));
  }
  return lines;
}

void add_drift_control(const Experiment& experiment, Plan& plan) {
  std::erase_if(plan.runs, &PlannedRun::is_drift_control);
  if (!experiment.drift_control || plan.runs.size() < 2) return;
  PlannedRun again = plan.runs.front();
  again.repetition = kDriftControl;
  again.block = std::ranges::max(plan.runs, {}, &PlannedRun::block).block + 1;
  again.block_position = 0;
  plan.runs.push_back(again);
}

void add_up(const Experiment& experiment, Plan& plan) {
  plan.estimated_seconds = 0;
  plan.peak_memory_bytes = 0;
  plan.peak_disk_bytes = 0;
  std::map<std::string, std::uint64_t> datasets;  // kept side by side
  std::uint64_t passing_bytes = 0;                // made for a run and removed
  for (const PlannedCell& cell : plan.cells) {
    const ResourceEstimate& estimate = cell.estimate;
    plan.peak_memory_bytes = std::max(plan.peak_memory_bytes, estimate.memory_bytes);
    const bool is_kept = !estimate.dataset.empty();
    const std::uint64_t own = is_kept ? 0 : estimate.disk_bytes;
    passing_bytes = std::max(passing_bytes, own + estimate.run_disk_bytes);
    if (is_kept && datasets.emplace(estimate.dataset, estimate.disk_bytes).second) {
      plan.estimated_seconds += estimate.dataset_seconds;
    }
  }
  plan.peak_disk_bytes = passing_bytes;
  for (const auto& [dataset, bytes] : datasets) plan.peak_disk_bytes += bytes;
  for (const PlannedRun& run : plan.runs) {
    plan.estimated_seconds += estimated_run_seconds(experiment, plan.cells[run.cell]);
  }
}

CellRecord to_record(const Experiment& experiment, const Plan& plan, std::size_t index) {
  const PlannedCell& cell = plan.cells[index];
  CellRecord record;
  record.hash = cell.hash;
  record.group = cell.group;
  record.position = static_cast<int>(index);
  record.arm = cell.factors.arm;
  record.workload = cell.factors.workload;
  record.workload_parameters = describe_parameters(experiment.workload(cell.factors.workload));
  record.regime = to_string(cell.factors.regime);
  record.placement = cell.factors.placement;
  record.pool_bytes = cell.factors.pool_bytes;
  record.working_set_bytes = cell.working_set_bytes;
  record.ratio = cell.factors.ratio;
  record.clients = cell.factors.clients;
  return record;
}

}  // namespace numabench
