// The counters compiled into a server against the kernel's own: breakpoints (uprobes) on each entry
// of the arm's own ClockSweepTick and StrategyGetBuffer, which are renamed there. Needs perf that
// may set them, and an arm built from Debian's source (minutes, the first time).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hosts/process.h"
#include "runner/arms/counted/sweep_layout.h"
#include "runner/engines/postgres/sweep_counters.h"
#include "tests/runner/arms/debian_arm.h"
#include "tests/runner/engines/postgres/installed_server.h"

namespace numabench {
namespace {

/// Breakpoints on all places where `function` begins, inlined or not, while this lives.
class Uprobe {
 public:
  Uprobe(std::string name, const std::string& binary, const std::string& function)
      : event_("numabench_test:" + std::move(name)),
        added_(run_command({"perf", "probe", "-x", binary, "--add", event_ + "=" + function})) {}
  Uprobe(const Uprobe&) = delete;
  Uprobe& operator=(const Uprobe&) = delete;
  ~Uprobe() { run_command({"perf", "probe", "--quiet", "--del", event_ + "*"}); }

  /// Empty when they are set, else perf's words.
  std::string refusal() const { return added_.ok() ? "" : "perf probe: " + added_.err; }
  std::string events() const { return event_ + "*"; }

 private:
  std::string event_;
  CommandResult added_;
};

/// How often all events of `probe` happened on this host, by perf stat's CSV: "count,,event,...".
std::uint64_t hits(const std::string& csv, const std::string& probe) {
  std::uint64_t sum = 0;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(",numabench_test:" + probe) != std::string::npos) sum += std::stoull(line);
  }
  return sum;
}

class PostgresBuildCounts : public WithDataDirectory {};

TEST_F(PostgresBuildCounts, EqualThoseOfUprobes) {
  const ArmBuild stock =
      ArmBuilder(kept_arms_directory(), BuildOptions())
          .build(debian_arm("stock"), [](const std::string&, const std::string&) {});
  ASSERT_EQ(stock.failure, "");
  ASSERT_EQ(stock.counted_method, "ClockSweepTick");
  const Uprobe ticks("ticks", stock.counted_postgres, "numabench_arm_ClockSweepTick");
  const Uprobe calls("calls", stock.counted_postgres, "numabench_arm_StrategyGetBuffer");
  if (const std::string refusal = ticks.refusal() + calls.refusal(); !refusal.empty()) {
    GTEST_SKIP() << "perf cannot set uprobes here: " << refusal;
  }
  SweepCounters counters = SweepCounters::create(directory_->own() + "/counters", 300,
                                                 directory_->user().uid, directory_->user().gid);
  ServerOptions counted = options();
  counted.postgres = stock.counted_postgres;
  counted.library_directory = stock.library_directory;
  counted.settings["autovacuum"] = "off";
  counted.environment[NUMABENCH_SWEEP_VARIABLE] = counters.path();
  Server server = Server::start(counted);
  // 24 MB in a pool of 16 MB, read twice by its key: the hand goes round.
  for (const char* sql :
       {"CREATE TABLE large AS SELECT i AS aid, repeat('x', 80) AS filler "
        "FROM generate_series(1, 200000) i",
        "ALTER TABLE large ADD PRIMARY KEY (aid)", "VACUUM ANALYZE large", "CHECKPOINT"}) {
    server.connect().execute(sql);
  }

  counters.reset();
  const CommandResult counted_by_perf = run_command(
      {"perf",
       "stat",
       "--field-separator=,",
       "--all-cpus",
       "-e",
       ticks.events(),
       "-e",
       calls.events(),
       "--",
       "psql",
       "--quiet",
       "-h",
       server.socket_directory(),
       "-p",
       std::to_string(server.port()),
       "-U",
       "postgres",
       "-d",
       "postgres",
       "-c",
       "SET enable_seqscan = off; SET enable_bitmapscan = off; "
       "DO $$BEGIN FOR i IN 1..100000 LOOP "
       "PERFORM filler FROM large WHERE aid = 1 + (i * 1009) % 200000; END LOOP; END$$"});
  ASSERT_TRUE(counted_by_perf.ok()) << counted_by_perf.err;
  const SweepTotals totals = counters.totals();
  EXPECT_GT(totals.ticks, 10000u);
  EXPECT_EQ(totals.ticks, hits(counted_by_perf.err, "ticks")) << counted_by_perf.err;
  EXPECT_EQ(totals.calls, hits(counted_by_perf.err, "calls")) << counted_by_perf.err;
}

}  // namespace
}  // namespace numabench
