// YAML -> Experiment. Every error is `file:line:column: what is wrong; what to do`.
//
// The keys of an experiment (* must be there; a factor's single value stands for a list of one):
//
//   name*, notes, engine (embedded), baseline (the first arm)
//   arms*        names of arms/NAME.yaml, or {name, description, extends, policy: {switch: value}}
//                and for a server {source, patches, series: each-prefix, settings}: arm_sources.h
//   workloads*   names, or {name, label, PARAMETER: value …}
//   pools*       sizes or expressions (expression.h); with `hold: working_set` the list is
//                working_sets and the pool is the working set ÷ ratio, in whole pages
//   ratios*, clients*
//   placements   free (the default), spread, or {name, ROLE: {OPTION: ids}} with numactl's options
//   regimes      none | resident | page-cache | real-io (experiment.h); without it none for the
//                embedded engine and page-cache for the others
//   matrix       blocks that override any of these seven lists: the union of their products
//   zip          lists of lists that vary together: [[pools, clients]]
//   exclude      cells to leave out, by factor: [{arm: numa-only, ratio: 4}]
//   runs (3), seed (1)
//   aa           the baseline arm a second time, as BASELINE-aa, for the noise floor; the default
//   is
//                true where numbers may be published (Experiment::is_publishable())
//   order        blocked (the default) | config | random; pairs: ABBA for blocked pairs of runs
//   drift_control (true): the first run once more at the end
//   monitors     {host (true), pss, perf}: what is watched once a second
//   void         {RULE: void | warn | LIMIT | warn LIMIT}: rules of measure/void_rules.h
//   warmup (1s), duration (5s): times, or laps that end at warmup_limit, duration_limit (60s) at
//   last; a warm-up can also be `steady`: until the pool is full and the hit ratio no longer moves
//   data_directory, huge_pages: off | try | on
//   build        {system: auto | meson | autoconf, options, cflags}: the same for all arms
//   settings     {name: value} of every server; an arm's own win
//   pgbench      {program, protocol: simple | extended | prepared, jobs, rate, log_sampling (auto)}
//   counters     none | same-build (the default) | counted-build: experiment.h
//   server_user, require_full_pool (false)
//   profile      a host profile, hosts/profiles/NAME.yaml or a path: host_section.h
//   host_checks  enforce | warn (the default, and with --smoke or --scale-to-host) | off
//   host_settings  {turbo: off, swappiness: 1 …}: what `doctor --apply` sets besides the usual
//   fill_cycles (20): cycles of the balancer while a whole pool would be filled
//
// The canonical form has `cells`, a list of {arm, workload, regime, placement, pool, ratio,
// clients}, in place of hold, regimes, pools, ratios, clients, matrix, zip and exclude, and beside
// it `smoke` where that was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hosts/topology.h"
#include "runner/config/experiment.h"

namespace numabench {

/// What the command line changes.
struct ConfigOverrides {
  std::vector<std::string> sets;  ///< "a.b.c=value" of --set, applied in order
  std::optional<std::uint64_t> seed;
  std::optional<int> runs;
  bool smoke = false;
  bool scale_to_host = false;  ///< host_scale.h
};

/// Arms named but not defined in the file are read from arms/NAME.yaml beside it. Values that name
/// the topology ("2 * cpus", "25% memory") are resolved against `topology`. Throws Error(kUsage).
LoadedExperiment load_experiment(const std::string& path, const Topology& topology,
                                 const ConfigOverrides& overrides = {});

/// The same from text (a stored experiment); `name` stands for the file in errors.
LoadedExperiment load_experiment_text(const std::string& text, const std::string& name,
                                      const Topology& topology,
                                      const ConfigOverrides& overrides = {});

/// Canonical YAML with every value resolved and nothing outside the text needed: loading it gives
/// an equal Experiment on every host. The hash of an experiment is the SHA-256 of this text.
std::string to_canonical_yaml(const Experiment& experiment);

/// What `config show` prints: the expanded experiment, each value with where it came from.
std::string show_config(const LoadedExperiment& loaded);

}  // namespace numabench
