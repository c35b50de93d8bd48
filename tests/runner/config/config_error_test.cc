// Every way to write a config wrong that we know of, with the one line that the user gets.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/runner/config/config_fixture.h"

namespace numabench {
namespace {

struct BadConfig {
  std::string text;
  std::string error;
};

void expect_errors(const std::vector<BadConfig>& table) {
  for (const BadConfig& bad : table) EXPECT_EQ(error_of(bad.text), bad.error) << bad.text;
}

TEST(ConfigError, TheConfigThatTheTableEditsIsGood) { EXPECT_EQ(error_of(with({})), "no error"); }

TEST(ConfigError, Types) {
  expect_errors({
      {with({"runs: 0010"}),
       "c.yaml:7:7: 'runs' is 0010, which some YAML readers take for octal; write 10"},
      {with({"clients: 0010"}),
       "c.yaml:6:10: 'clients' is 0010, which some YAML readers take for octal; write 10"},
      {with({"name: 0010"}),
       "c.yaml:1:7: 'name' is 0010, which some YAML readers take for octal; write 10 or \"0010\""},
      {with({"name: yes"}),
       "c.yaml:1:7: 'name' is yes, which some YAML readers take for a boolean; write \"yes\" in "
       "quotes for the word"},
      {with({"runs: on"}),
       "c.yaml:7:7: 'runs' is on, which some YAML readers take for a boolean; write a number of at "
       "least 1"},
      {with({"arms: [{name: a, policy: {rings: no}}]"}),
       "c.yaml:2:34: 'rings' is no, which some YAML readers take for a boolean; write one of: "
       "false, true"},
      {with({"name: true"}),
       "c.yaml:1:7: 'name' must be text, not 'true'; write \"true\" in quotes for the word"},
      {with({"runs: [1, 2]"}),
       "c.yaml:7:7: 'runs' must be a whole number, not a list; write a number of at least 1"},
      {with({"runs: three"}),
       "c.yaml:7:7: 'runs' must be a whole number, not 'three'; write a number of at least 1"},
      {with({"runs: \"3\""}),
       "c.yaml:7:7: 'runs' must be a whole number, not '3'; take away the quotes"},
      {with({"runs: 0"}),
       "c.yaml:7:7: 'runs' must be a whole number, not '0'; write a number of at least 1"},
      {with({"runs: 2.5"}),
       "c.yaml:7:7: 'runs' must be a whole number, not '2.5'; write a number of at least 1"},
      {with({"runs:"}),
       "c.yaml:7:1: 'runs' must be a whole number, not empty; write a number of at least 1"},
      {with({"seed: -1"}),
       "c.yaml:7:7: 'seed' must be a whole number below 2^64, not '-1'; write it in decimal "
       "digits"},
      {with({"name: a/b"}),
       "c.yaml:1:7: 'name' cannot be 'a/b'; use letters, digits, '.', '_', '+' and '-', beginning "
       "with another than '.'"},
      {with({"zip: {a: b}"}), "c.yaml:7:6: 'zip' must be a list, not a map; write it as [a, b]"},
      {with({"huge_pages: yes"}),
       "c.yaml:7:13: 'huge_pages' is yes, which some YAML readers take for a boolean; write one "
       "of: off, try, on"},
      {with({"regimes: [none, real_io]"}),
       "c.yaml:7:17: 'regime' cannot be 'real_io'; did you mean 'real-io'?"},
      {with({"duration: steady"}),
       "c.yaml:7:11: 'duration' cannot be 'steady': a window does not end by itself; write a time "
       "or laps; 'steady' is for 'warmup'"},
      {with({"duration: 5"}),
       "c.yaml:7:11: 'duration' must be a time or a number of laps, not '5'; write its unit, such "
       "as 30s, 2min or 3 laps"},
      {with({"duration: 0s"}),
       "c.yaml:7:11: 'duration' is zero: nothing would be measured; write a time or laps above "
       "zero"},
      {with({"warmup_limit: 3 laps"}),
       "c.yaml:7:15: 'warmup_limit' must be a time above zero, not '3 laps'; write its unit, such "
       "as 60s"},
  });
}

TEST(ConfigError, Keys) {
  expect_errors({
      {with({"client: 4"}),
       "c.yaml:7:1: unknown key 'client' in the experiment; did you mean 'clients'?"},
      {with({"zzzzzzzzzzzz: 4"}),
       "c.yaml:7:1: unknown key 'zzzzzzzzzzzz' in the experiment; known: name, notes, engine, "
       "baseline, arms, workloads, placements, huge_pages, fill_cycles, data_directory, "
       "runs, "
       "warmup, warmup_limit, duration, duration_limit, seed, smoke, scale, cells, build, "
       "settings, server_user, pgbench, counters, require_full_pool, order, pairs, "
       "drift_control, monitors, void, profile, host_checks, host_settings, aa, hold, regimes, "
       "pools, "
       "working_sets, ratios, clients, matrix, zip, exclude"},
      {with({"runs: 3\nseed: 1\nruns: 5"}),
       "c.yaml:9:1: key 'runs' is written twice, first at c.yaml:7:1; keep one of them"},
      {with({"arms:\n  - name: a\n    policy:\n      bound: 1\n      bound: 2"}),
       "c.yaml:6:7: key 'bound' is written twice, first at c.yaml:5:7; keep one of them"},
      {without("name"), "c.yaml:1:1: the experiment has no 'name'; add 'name: …'"},
      {without("pools"), "c.yaml:1:1: the experiment has no 'pools'; add 'pools: …'"},
      {without("arms"), "c.yaml:1:1: the experiment has no 'arms'; add 'arms: …'"},
      {with({"hold: working_set"}),
       "c.yaml:4:8: 'pools' is listed, but hold is working_set; list 'working_sets', or change "
       "'hold'"},
      {with({"cells: []"}),
       "c.yaml:4:8: 'pools' stands beside 'cells', which lists every cell; keep one of them"},
      {with({"smoke: true"}),
       "c.yaml:7:8: 'smoke' is written by numabench beside 'cells' only; leave it out and use "
       "--smoke or --scale-to-host"},
      {with({"baseline: b"}), "c.yaml:7:11: 'baseline' is 'b', an arm without cells; known: a"},
  });
}

TEST(ConfigError, Values) {
  expect_errors({
      {with({"ratios: []"}),
       "c.yaml:5:9: 'ratios' is an empty list; name at least one, or leave the key out"},
      {with({"arms: []"}),
       "c.yaml:2:7: 'arms' is an empty list; name at least one, or leave the key out"},
      {with({"pools: 1024"}),
       "c.yaml:4:8: pool '1024' has no unit; write its unit, such as 1024MiB"},
      {with({"pools: 4GX"}),
       "c.yaml:4:8: expression '4GX': 'GX' is not a unit of size; write a number, a size such as "
       "4GiB, or an expression such as 2 * cpus"},
      {with({"pools: 2 * cpus"}),
       "c.yaml:4:8: pool '2 * cpus' (32 on this host) is a count, not a size; write a size such as "
       "4GiB, or a part of memory such as 25% memory"},
      {with({"pools: 8KiB"}),
       "c.yaml:4:8: a pool of 8 KiB is too small; use at least 128 KiB, as PostgreSQL does"},
      {with({"pools: memory - 1TiB"}),
       "c.yaml:4:8: pool 'memory - 1TiB' (-992 GiB on this host) is no size; write a size above "
       "zero, such as 4GiB"},
      {with({"clients: 4GiB"}),
       "c.yaml:6:10: 'clients' cannot be '4GiB'; write a whole number from 1 to 262143, or an "
       "expression such as 2 * cpus"},
      {with({"clients: cpus / 5"}),
       "c.yaml:6:10: 'clients' cannot be 'cpus / 5' (3.2 on this host); write a whole number from "
       "1 to 262143, or an expression such as 2 * cpus"},
      {with({"clients: 0"}),
       "c.yaml:6:10: 'clients' cannot be '0'; write a whole number from 1 to 262143, or an "
       "expression such as 2 * cpus"},
      {with({"clients: 2 * cpu"}),
       "c.yaml:6:10: unknown name 'cpu' in '2 * cpu'; did you mean 'cpus'?"},
      {with({"clients: 2 cpus"}),
       "c.yaml:6:10: expression '2 cpus': a sign is missing between '2' and 'cpus'; write a "
       "number, a size such as 4GiB, or an expression such as 2 * cpus"},
      {with({"clients: (2 + 3"}),
       "c.yaml:6:10: expression '(2 + 3': a ')' is missing; write a number, a size such as 4GiB, "
       "or an expression such as 2 * cpus"},
      {with({"clients: 4 / 0"}),
       "c.yaml:6:10: expression '4 / 0': something is divided by zero; write a number, a size such "
       "as 4GiB, or an expression such as 2 * cpus"},
      {with({"pools: memory + 2"}),
       "c.yaml:4:8: expression 'memory + 2': a size and a count are added; write a number, a size "
       "such as 4GiB, or an expression such as 2 * cpus"},
      {with({"ratios: \"1,15\""}),
       "c.yaml:5:9: a ratio must be a number, not '1,15'; take away the quotes"},
      {with({"ratios: 1,15"}),
       "c.yaml:5:9: a ratio must be a number, not '1,15'; write it with '.' as the decimal sign, "
       "such as 1.15"},
      {with({"ratios: 0"}),
       "c.yaml:5:9: a ratio cannot be 0; write working set ÷ pool, such as 1.15"},
  });
}

TEST(ConfigError, Products) {
  expect_errors({
      {with({"pools: [64MiB, 128MiB]", "clients: [1, 2, 3]", "zip: [[pools, clients]]"}),
       "c.yaml:7:7: zip of unequal lists: 'pools' has 2 (c.yaml:4:8), 'clients' has 3 "
       "(c.yaml:6:10); give them the same number of values"},
      {with({"zip: [[pool, clients]]"}),
       "c.yaml:7:8: a factor of 'zip' cannot be 'pool'; did you mean 'pools'?"},
      {with({"zip: [[pools, clients], [pools, ratios]]"}),
       "c.yaml:7:26: 'pools' is zipped twice; name it once"},
      {with({"zip: [pools, clients]"}),
       "c.yaml:7:7: each entry of 'zip' must be a list, not 'pools'; write it as [a, b]"},
      {with({"exclude: [{ratio: 4}]"}),
       "c.yaml:7:11: this exclusion matches no cell; correct its values, or leave it out"},
      {with({"exclude: [{ratio: 2}]"}), "c.yaml:7:11: every cell is excluded; exclude fewer"},
      {with({"arms: [{name: stock}]", "exclude: [{arm: stok}]"}),
       "c.yaml:7:17: no arm 'stok' in this experiment; did you mean 'stock'?"},
      {with({"exclude: [{ratios: 2}]"}),
       "c.yaml:7:12: unknown key 'ratios' in 'exclude'; did you mean 'ratio'?"},
      {with({"matrix: [{runs: 2}]"}),
       "c.yaml:7:11: unknown key 'runs' in a block of 'matrix'; known: workloads, regimes, "
       "placements, "
       "pools, ratios, clients, arms"},
      {with({"matrix: [{arms: [{name: a}]}]"}),
       "c.yaml:7:18: arm 'a' is defined twice, first at c.yaml:2:8; refer to it by its name, or "
       "give one of them another"},
  });
}

TEST(ConfigError, Arms) {
  expect_errors({
      {with({"arms: [stok]"}),
       "c.yaml:2:8: arm 'stok' is not defined, neither here nor as arms/stok.yaml; define it in "
       "'arms' or in that file"},
      {with({"arms: [{name: stock}, stok]"}),
       "c.yaml:2:23: arm 'stok' is not defined, neither here nor as arms/stok.yaml; did you mean "
       "'stock'?"},
      {with({"arms: [{name: a}, {name: a}]"}),
       "c.yaml:2:19: arm 'a' is listed twice, first at c.yaml:2:8; give one of them a name of its "
       "own"},
      {with({"arms: [{name: a, polcy: {}}]"}),
       "c.yaml:2:18: unknown key 'polcy' in an arm; did you mean 'policy'?"},
      {with({"arms: [{policy: {bound: 1}}]"}), "c.yaml:2:8: the arm has no 'name'; add 'name: …'"},
      {with({"arms: [{name: a, extends: b}, {name: b, extends: a}]"}),
       "c.yaml:2:50: arm 'a' extends itself through 'b'; let one of them stand alone"},
      {with({"arms: [{name: a, extends: b}]"}),
       "c.yaml:2:27: arm 'b' is not defined, neither here nor as arms/b.yaml; known: a"},
      {with({"arms: [{name: a, policy: {bounds: 1}}]"}),
       "c.yaml:2:27: unknown key 'bounds' in the policy of an arm; did you mean 'bound'?"},
      {with({"arms: [{name: a, policy: {usage: second_chanc}}]"}),
       "c.yaml:2:34: policy switch 'usage' cannot be 'second_chanc'; did you mean "
       "'second_chance'?"},
      {with({"arms: [{name: a, policy: {bound: -1}}]"}),
       "c.yaml:2:34: policy switch 'bound' cannot be '-1'; write a whole number of at least 0"},
      {with({"arms:\n  - name: a\n    policy: {balance: per_tick}"}),
       "c.yaml:3:5: balance: per_tick needs a partitioned sweep, but partitions is 1; set "
       "partitions to 0 (one a node), to 2 or more, or leave the other switch out"},
  });
}

TEST(ConfigError, Workloads) {
  expect_errors({
      {with({"workloads: zipfan"}),
       "c.yaml:3:12: there is no workload 'zipfan'; did you mean 'zipfian'?"},
      {with({"workloads: [{name: zipfian, t: 1}]"}),
       "c.yaml:3:29: unknown key 't' in workload 'zipfian'; known: name, label, s, permute, fill, "
       "ratio_of"},
      {with({"workloads:\n  - name: zipfian\n    s: 0"}),
       "c.yaml:5:8: 's' of zipfian cannot be '0'; give a number greater than 0"},
      {with({"workloads: [{name: zipfian, fill: indexfirst}]"}),
       "c.yaml:3:35: 'fill' of zipfian cannot be 'indexfirst'; did you mean 'index_first'?"},
      {with({"workloads: [{name: zipfian, permute: yes}]"}),
       "c.yaml:3:38: 'permute' is yes, which some YAML readers take for a boolean; write one of: "
       "true, false"},
      {with({"workloads: [zipfian, {name: zipfian, s: 2}]"}),
       "c.yaml:3:22: workload 'zipfian' is listed twice, first at c.yaml:3:13; give one of them a "
       "label of its own"},
  });
}

TEST(ConfigError, Placements) {
  expect_errors({
      {with({"placements: spred"}),
       "c.yaml:7:13: placement 'spred' is not defined; did you mean 'spread'? Others are maps of a "
       "name and roles"},
      {with({"placements: [{name: p, servers: {membind: 0}}]"}),
       "c.yaml:7:24: unknown key 'servers' in a placement; did you mean 'server'?"},
      {with({"placements: [{name: p, server: {membind: 3-1}}]"}),
       "c.yaml:7:42: 'membind' cannot be '3-1'; write ids as numactl does: 0-3,8, +0-1, !2 or "
       "all"},
      {with({"placements: [{name: p, server: {membind: 0, interleave: all}}]"}),
       "c.yaml:7:57: 'interleave' is a second memory policy; keep one of them"},
      {with({"placements: [{name: p, server: {preferred: all}}]"}),
       "c.yaml:7:44: 'preferred' takes one node; name one, or use preferred_many"},
      {with({"placements: [{name: p, server: {cpunodebind: 7}}]"}),
       "c.yaml:7:46: there is no node 7; nodes with CPUs: 0-1"},
      {with({"placements: [{name: p, server: {membind: 2}}]"}),
       "c.yaml:7:42: there is no node 2; allowed nodes with memory: 0-1"},
      {with({"placements: [{name: p, clients: {physcpubind: 3-16}}]"}),
       "c.yaml:7:47: there is no CPU 16; allowed CPUs: 0-15"},
      {with({"placements: [{name: p, clients: {physcpubind: +16}}]"}),
       "c.yaml:7:47: there is no CPU +16; of the 16 allowed (0-15) + counts from 0"},
      {with({"placements: [{name: p, server: {membind: \"netdev:eth0\"}}]"}),
       "c.yaml:7:42: 'membind' cannot be 'netdev:eth0': nodes near devices, files and addresses "
       "are not looked up; write the ids that numactl finds for it"},
      {with({"placements: [{name: p, server: {membind: same}}]"}),
       "c.yaml:7:42: 'membind' is 'same' as nothing; give the role a cpunodebind"},
      {with({"placements: [{name: p, server: {interleave: all, balancing: true}}]"}),
       "c.yaml:7:61: 'balancing' works within 'membind' only; bind the memory, or leave it to the "
       "kernel's numa_balancing"},
      {with({"placements: [{name: p, server: {spread: cores}}]"}),
       "c.yaml:7:33: unknown key 'spread' in role 'server' of a placement; known: cpunodebind, "
       "physcpubind, membind, preferred, preferred_many, interleave, weighted_interleave, "
       "localalloc, balancing, touch"},
      {with({"placements: [{name: p, clients: {spread: socket}}]"}),
       "c.yaml:7:42: 'spread' cannot be 'socket'; known: cores, nodes, packages, smt-last"},
      {with({"placements: [{name: free, server: {membind: 0}}]"}),
       "c.yaml:7:14: placement 'free' is built in; give yours another name"},
  });
}

TEST(ConfigError, Yaml) {
  expect_errors({
      {with({"arms: [{<<: {name: a}}]"}),
       "c.yaml:2:9: merge keys ('<<') are not read; let an arm say 'extends: OTHER', or repeat the "
       "values"},
      {with({"---\nname: u"}),
       "c.yaml:8:1: a second YAML document begins here; keep one experiment a file: remove the "
       "'---' before it"},
      {with({"matrix:\n\t- arms: a"}), "c.yaml:8:1: a tab in the indentation; indent with blanks"},
      {with({"arms: [{name: a}"}),
       "c.yaml:3:1: not YAML: end of sequence flow not found; check the brackets, quotes and "
       "indentation up to this place"},
      {with({"name: !!str 5"}),
       "c.yaml:1:7: the type tag '!!str' is not read; leave it out; quote a value that is meant as "
       "text"},
      {with({"[a, b]: c"}), "c.yaml:7:1: a key must be a word; write keys as 'name: value'"},
      {with({"matrix: &m [*m]"}),
       "c.yaml:7:9: nested deeper than 32 levels; close the brackets before, or break the anchor "
       "that contains itself"},
      {with({"matrix: *m"}),
       "c.yaml:7:9: not YAML: the referenced anchor is not defined; check the brackets, quotes and "
       "indentation up to this place"},
      {"name: t\nnotes: caf\351\n",
       "c.yaml:2:11: not UTF-8 text; save the file as UTF-8, or remove this byte"},
      {"", "c.yaml:1:1: the experiment must be a map, not empty; write it as 'key: value' lines"},
      {"quick\n",
       "c.yaml:1:1: the experiment must be a map, not 'quick'; write it as 'key: value' lines"},
      {"- a\n",
       "c.yaml:1:1: the experiment must be a map, not a list; write it as 'key: value' lines"},
  });
}

TEST(ConfigError, NulByte) {
  EXPECT_EQ(error_of(std::string("name: t\0\n", 9)),
            "c.yaml:1:8: not UTF-8 text; save the file as UTF-8, or remove this byte");
}

// Aliases that double at each level would fill the memory if they were copied without a limit.
TEST(ConfigError, MultiplyingAliases) {
  std::string text = "a0: &a0 [x, x]\n";
  for (int level = 1; level < 28; ++level) {
    std::ostringstream line;
    line << "a" << level << ": &a" << level << " [*a" << level - 1 << ", *a" << level - 1 << "]\n";
    text += line.str();
  }
  EXPECT_NE(error_of(text).find("more than 1000000 values; use fewer aliases"), std::string::npos);
}

TEST(ConfigError, NestedBrackets) {
  for (const char bracket : {'[', '{', '('}) {
    EXPECT_NE(error_of("name: t\nclients: " + std::string(100'000, bracket)), "no error");
  }
}

TEST(ConfigError, ProductNobodyMeant) {
  std::string many = "[1";
  for (int value = 2; value <= 500; ++value) many += ", " + std::to_string(value);
  many += "]";
  EXPECT_EQ(error_of(with({"ratios: " + many, "clients: " + many})),
            "c.yaml:2:7: the factors multiply to 250000 cells; list fewer values: at most 100000 "
            "cells");
}

}  // namespace
}  // namespace numabench
