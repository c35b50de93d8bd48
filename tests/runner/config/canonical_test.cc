// The canonical form: loads to an equal experiment on any host, and is its own canonical form.
#include "runner/config/canonical.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "runner/config/yaml_tree.h"
#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

using testing::HasSubstr;

/// Uses every key, so that what the canonical form forgets shows as a difference.
const std::string kEverything =
    "name: everything\n"
    "notes: |\n"
    "  Quotes \" and ', a back\\slash,\ta tab, # no comment, ÷, and\n"
    "  a second line: with a colon.\n"
    "engine: embedded\n"
    "baseline: b\n"
    "arms:\n"
    "  - {name: a, description: \"yes\", policy: {usage: hot_cool, cooling: prefer_cool}}\n"
    "  - {name: b, policy: {partitions: 0, balance: per_tick, bound: 5, rings: false}}\n"
    "  - {name: \"null\"}\n"
    "workloads: [zipfian, {name: hotscan, label: scans}, seqscan]\n"
    "pools: [25% memory, 64MiB]\n"
    "ratios: [1.15, 0.1]\n"
    "clients: [2 * cpus, 1]\n"
    "placements:\n"
    "  - free\n"
    "  - spread\n"
    "  - name: p\n"
    "    server: {cpunodebind: all, interleave: all}\n"
    "    clients: {physcpubind: \"1,3-5\", preferred: 1}\n"
    "    scanners: {localalloc: true}\n"
    "    background_writer: {}\n"
    "zip: [[pools, clients]]\n"
    "exclude: [{arm: a, ratio: 0.1}]\n"
    "regimes: [real-io, page-cache]\n"
    "data_directory: /var/tmp/with blank\n"
    "huge_pages: on\n"
    "fill_cycles: 7\n"
    "host_checks: enforce\n"
    "host_settings: {turbo: off, dirty_bytes: 1073741824}\n"
    "runs: 7\n"
    "pairs: ABBA\n"
    "drift_control: false\n"
    "monitors: {host: false, pss: true, perf: true}\n"
    "void: {other_load: warn 12.5%, disk_full: 3, throttled: void}\n"
    "warmup: 2.5 laps\n"
    "warmup_limit: 90s\n"
    "duration: 3 laps\n"
    "duration_limit: 2h\n"
    "seed: 18446744073709551615\n";

/// The same for what only a server's engine has a use for. Its files need not exist once expanded.
const std::string kServer =
    "name: server\n"
    "engine: postgres\n"
    "arms:\n"
    "  - {name: a, source: {git: \"https://host/x.git\", commit: 0123456}, patches: [/p/1.patch],\n"
    "     series: {of: s, patches: 1}, settings: {io_method: io_uring, jit: off, mode: 0640}}\n"
    "  - {name: b, source: {tarball: /t/x.tar.gz}}\n"
    "  - {name: c, source: {debian: postgresql-15}}\n"
    "  - {name: d, source: {bindir: /usr/lib/postgresql/15/bin}}\n"
    "workloads: [zipfian]\n"
    "placements: [free]\n"
    "build: {system: autoconf, options: [--with-libnuma, \"-Dx=1\"], cflags: -O3}\n"
    "settings: {work_mem: 64MB, fsync: off}\n"
    "server_user: nobody\n"
    "pgbench: {program: /x/pgbench, protocol: simple, jobs: 3, rate: 1000.5, log_sampling: 0.1}\n"
    "counters: counted-build\n"
    "require_full_pool: true\n"
    "warmup: steady\n"
    "warmup_limit: 77s\n"
    "scale: 0.125\n"
    "cells:\n"
    "  - {arm: a, workload: zipfian, regime: real-io, placement: free, pool: 8MiB, ratio: 2,\n"
    "     clients: 4}\n";

ConfigOverrides smoke() {
  ConfigOverrides overrides;
  overrides.smoke = true;
  return overrides;
}

TEST(Canonical, LoadsToAnEqualExperimentOnEveryHost) {
  for (const ConfigOverrides& overrides : {ConfigOverrides{}, smoke()}) {
    const Experiment experiment = load_text(kEverything, overrides).experiment;
    const std::string text = to_canonical_yaml(experiment);
    for (const Topology& host :
         {two_nodes(), Topology::of_synthetic("pu:1"), Topology::of_this_host()}) {
      const Experiment again = load_experiment_text(text, "stored", host).experiment;
      EXPECT_EQ(again, experiment) << text;
      EXPECT_EQ(to_canonical_yaml(again), text);
    }
  }
}

// Not a multiple of any of its pools: ratio × pool would be another size for each.
TEST(Canonical, KeepsAWorkingSetThatIsHeld) {
  const Experiment experiment =
      load_text(
          "name: t\narms: [{name: a}]\nworkloads: zipfian\nhold: working_set\n"
          "working_sets: 63MB\nratios: [0.8, 1.15, 3]\nclients: 1\n")
          .experiment;
  const Experiment again =
      load_experiment_text(to_canonical_yaml(experiment), "stored", two_nodes()).experiment;
  EXPECT_EQ(again, experiment);
  for (const FactorSet& cell : again.cells) {
    EXPECT_EQ(cell.working_set_bytes, 63'000'000u / 8192 * 8192);
  }
}

TEST(Canonical, KeepsWhatAServerIsBuiltFromAndTold) {
  const Experiment experiment = load_text(kServer).experiment;
  EXPECT_EQ(experiment.arms[0].settings.at("jit"), "off");
  EXPECT_EQ(experiment.arms[0].settings.at("mode"), "0640");
  EXPECT_EQ(experiment.arms[0].series, "s");
  const std::string text = to_canonical_yaml(experiment);
  const Experiment again = load_experiment_text(text, "stored", two_nodes()).experiment;
  EXPECT_EQ(again, experiment) << text;
  EXPECT_EQ(to_canonical_yaml(again), text);
}

TEST(Canonical, ShowsEveryDifferenceOfAServer) {
  const std::string text = to_canonical_yaml(load_text(kServer).experiment);
  for (const std::string change : {"arms.a.source.commit=0123457",
                                   "arms.a.settings.jit=on",
                                   "arms.a.patches.0=/p/2.patch",
                                   "arms.a.series.patches=2",
                                   "arms.b.source.tarball=/t/y.tar.gz",
                                   "arms.c.source.debian=postgresql-16",
                                   "arms.d.source.bindir=/x",
                                   "build.system=meson",
                                   "build.options.0=--without-libnuma",
                                   "build.cflags=-O2",
                                   "settings.work_mem=32MB",
                                   "server_user=somebody",
                                   "pgbench.program=/y",
                                   "pgbench.protocol=extended",
                                   "pgbench.jobs=4",
                                   "pgbench.rate=0",
                                   "pgbench.log_sampling=1",
                                   "pgbench.log_sampling=auto",
                                   "counters=none",
                                   "require_full_pool=false",
                                   "warmup_limit=78s",
                                   "scale=0.25"}) {
    ConfigOverrides overrides;
    overrides.sets = {change};
    EXPECT_NE(to_canonical_yaml(load_text(kServer, overrides).experiment), text) << change;
  }
}

// Two experiments that differ anywhere have different hashes, so nothing may be left out.
TEST(Canonical, ShowsEveryDifference) {
  const std::string text = to_canonical_yaml(load_text(kEverything).experiment);
  const std::vector<std::string> changes{"name=other",
                                         "notes=x",
                                         "engine=model",
                                         "baseline=a",
                                         "regimes.1=none",
                                         "data_directory=/x",
                                         "huge_pages=try",
                                         "fill_cycles=8",
                                         "host_checks=off",
                                         "host_settings.turbo=on",
                                         "host_settings.dirty_bytes=0",
                                         "runs=8",
                                         "warmup=2 laps",
                                         "warmup_limit=91s",
                                         "duration=4 laps",
                                         "duration_limit=1h",
                                         "seed=2",
                                         "clients.1=3",
                                         "ratios.0=1.2",
                                         "workloads.zipfian.s=2",
                                         "arms.b.policy.bound=6",
                                         "arms.a.description=x",
                                         "placements.p.clients.preferred=0",
                                         "exclude.0.ratio=1.15"};
  for (const std::string& change : changes) {
    ConfigOverrides overrides;
    overrides.sets = {change};
    EXPECT_NE(to_canonical_yaml(load_text(kEverything, overrides).experiment), text) << change;
  }
}

// How a value is written, or where, is not part of the experiment.
TEST(Canonical, DoesNotDependOnSpelling) {
  const std::string start = "name: t\narms: {name: a}\n";
  const std::string one = start + "workloads: zipfian\npools: 8GiB\nratios: 2\nclients: 16\n";
  const std::string two = "# a comment\n" + start +
                          "clients: [cpus]\nratios: [2.0]\npools: [25% memory]\n"
                          "workloads: [{name: zipfian, s: 1.10}]\nruns: 3\n";
  EXPECT_EQ(to_canonical_yaml(load_text(one).experiment),
            to_canonical_yaml(load_text(two).experiment));
}

TEST(Canonical, TextReadsBackAsItIs) {
  std::vector<std::string> texts{
      "",   "plain",  "yes", "NULL", "~",    "0010", "1e3", "a b",  "a: b", "#",  "- x", "\"",
      "\\", "a\nb\n", "\t",  "\x01", "\x7f", "÷",    "{x}", "[",    "&a",   "*a", "!t",  "%",
      "@",  "`",      " a ", "true", "<<",   "...",  "---", "a #b", "\r\n", "y",  "Off"};
  for (const std::string& text : texts) {
    const YamlNode root = parse_yaml_file_text("k: " + yaml_text(text) + "\n", "t");
    ASSERT_NE(root.find("k"), nullptr);
    EXPECT_EQ(root.find("k")->text, text);
  }
}

TEST(Canonical, BytesInTheLargestWholeUnit) {
  EXPECT_EQ(exact_bytes(512u << 20), "512MiB");
  EXPECT_EQ(exact_bytes(1ull << 40), "1TiB");
  EXPECT_EQ(exact_bytes(8192), "8KiB");
  EXPECT_EQ(exact_bytes(1025), "1025B");
}

TEST(ShowConfig, EveryValueHasItsOrigin) {
  const LoadedExperiment loaded = load_text(kEverything);
  std::istringstream lines(show_config(loaded));
  std::string line;
  int values = 0;
  while (std::getline(lines, line)) {
    if (line.ends_with(":")) continue;
    EXPECT_THAT(line, HasSubstr("  # ")) << line;
    ++values;
  }
  EXPECT_GT(values, 80);
}

TEST(ShowConfig, SaysWhereAndFromWhichExpression) {
  ConfigOverrides overrides;
  overrides.sets = {"runs=9"};
  const std::string shown = show_config(load_text(kEverything, overrides));
  EXPECT_THAT(shown, HasSubstr("clients c.yaml:14:11 (2 * cpus)"));
  EXPECT_THAT(shown, HasSubstr("pool c.yaml:12:9 (25% memory)"));
  EXPECT_THAT(shown, testing::ContainsRegex("runs: 9 +# --set runs=9"));
  EXPECT_THAT(shown, testing::ContainsRegex("bound: 5 +# c.yaml:9:"));
  EXPECT_THAT(shown, testing::ContainsRegex("freelist: false +# default"));
  EXPECT_THAT(show_config(load_text(kEverything, smoke())),
              testing::ContainsRegex("runs: 1 +# --smoke"));
}

TEST(ShowConfig, CanBeLoadedAgain) {
  const LoadedExperiment loaded = load_text(kEverything);
  EXPECT_EQ(load_text(show_config(loaded)).experiment, loaded.experiment);
}

}  // namespace
}  // namespace numabench
