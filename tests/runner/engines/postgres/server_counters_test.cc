#include "runner/engines/postgres/server_counters.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "hosts/process.h"
#include "runner/engines/pool_memory.h"
#include "runner/engines/postgres/shared_memory.h"
#include "tests/hosts/error_of.h"
#include "tests/paths.h"
#include "tests/runner/engines/postgres/installed_server.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kPoolBuffers = 2048;  // 16 MB
constexpr int kVersion15 = 150000;

std::optional<double> value_of(const std::vector<MetricValue>& values, const std::string& metric) {
  const auto found = std::ranges::find(values, metric, &MetricValue::metric);
  return found == values.end() ? std::nullopt : found->value;
}

std::string reason_of(const std::vector<MetricValue>& values, const std::string& metric) {
  const auto found = std::ranges::find(values, metric, &MetricValue::metric);
  return found == values.end() ? "not there" : found->reason;
}

/// A server with a table of 24 MB, half as large again as its pool, and one with two levels of
/// index.
class ServerCountersTest : public WithDataDirectory {
 protected:
  static void SetUpTestSuite() {
    WithDataDirectory::SetUpTestSuite();
    compile_clock();
    Server server = Server::start(clock_options());
    Connection connection = server.connect();
    for (const char* sql :
         {"CREATE EXTENSION pg_buffercache", "CREATE EXTENSION pg_prewarm",
          "CREATE FUNCTION numabench_clock() RETURNS bigint AS 'numabench_clock' LANGUAGE C",
          "CREATE TABLE small AS SELECT i AS aid, repeat('x', 80) AS filler "
          "FROM generate_series(1, 20000) i",
          "ALTER TABLE small ADD PRIMARY KEY (aid)",
          "CREATE TABLE large AS SELECT i AS aid, repeat('x', 80) AS filler "
          "FROM generate_series(1, 200000) i",
          "VACUUM ANALYZE small", "VACUUM ANALYZE large", "CHECKPOINT"}) {
      connection.execute(sql);
    }
  }

  /// As a builder does for an arm.
  static void compile_clock() {
    const std::string headers = run_command({"pg_config", "--includedir-server"}).out;
    const CommandResult result =
        run_command({"cc", "-Wall", "-Werror", "-O2", "-shared", "-fPIC",
                     "-I" + headers.substr(0, headers.find('\n')),
                     source_dir() + "/runner/arms/counted/numabench_clock.c", "-o",
                     directory_->root() + "/numabench_clock.so"});
    ASSERT_TRUE(result.ok()) << result.err;
  }

  static ServerOptions clock_options() {
    ServerOptions result = options();
    result.settings["autovacuum"] = "off";
    result.settings["dynamic_library_path"] = directory_->root() + ":$libdir";
    return result;
  }

  /// In a session of its own, which is over when this returns.
  void execute(const std::string& sql) const { server_.connect().execute(sql); }

  std::uint64_t number(const std::string& sql) {
    return std::stoull(monitor_.value(sql).value_or("0"));
  }

  /// The background writer counts them once a round, and on a busy machine a round can be late.
  void wait_for_allocations(std::uint64_t wanted) {
    for (int polls = 0; polls < 300; ++polls) {
      if (number("SELECT buffers_alloc FROM pg_stat_bgwriter") >= wanted) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  void fill_pool() { execute("SELECT pg_prewarm('large', 'buffer')"); }

  Server server_ = Server::start(clock_options());
  Connection monitor_ = server_.connect();
};

TEST_F(ServerCountersTest, PointQueriesAskForTheirBuffersAndNoOthers) {
  constexpr double kQueries = 5000;
  reset_server_counters(monitor_);
  const ServerCounters before = read_server_counters(monitor_, true);
  EXPECT_LT(*before.heap_hit + *before.heap_read, 10u);
  execute(
      "SET enable_seqscan = off; SET enable_bitmapscan = off;"
      "DO $$BEGIN FOR i IN 1..5000 LOOP PERFORM filler FROM small WHERE aid = i; END LOOP; END$$");
  wait_for_clients_to_leave(monitor_, 10);
  const ServerCounters after = read_server_counters(monitor_, true);
  const std::vector<MetricValue> values =
      window_values(before, after, kVersion15, kPoolBuffers, "");
  // A root, a leaf, a row.
  const double heap = *value_of(values, "heap_blocks_hit") + *value_of(values, "heap_blocks_read");
  const double index =
      *value_of(values, "index_blocks_hit") + *value_of(values, "index_blocks_read");
  EXPECT_NEAR(heap, kQueries, kQueries * 0.005);
  EXPECT_NEAR(index, 2 * kQueries, 2 * kQueries * 0.005);
  EXPECT_EQ(value_of(values, "accesses"), heap + index);
  const double reads = *value_of(values, "reads");
  EXPECT_NEAR(*value_of(values, "hit_pct"), 100 * (1 - reads / (heap + index)), 1e-9);
  EXPECT_GE(
      *after.database_hit + *after.database_read - *before.database_hit - *before.database_read,
      static_cast<std::uint64_t>(heap + index));
}

TEST_F(ServerCountersTest, MissesOfAFullPoolAreAllocationsThatMoveTheHand) {
  fill_pool();
  read_server_counters(monitor_, true);  // the first look of a session reads catalogs, too
  number("SELECT buffers_alloc FROM pg_stat_bgwriter");
  wait_for_clients_to_leave(monitor_, 10);
  const std::uint64_t allocated = number("SELECT buffers_alloc FROM pg_stat_bgwriter");
  const std::uint64_t clock = number("SELECT numabench_clock()");
  const ServerCounters before = read_server_counters(monitor_, true);
  fill_pool();  // of 24 MB by 16, in order: the clock has replaced each page before it is asked for
  wait_for_clients_to_leave(monitor_, 10);
  wait_for_allocations(allocated + number("SELECT pg_relation_size('large') / 8192"));
  const ServerCounters after = read_server_counters(monitor_, true);
  const double way = static_cast<double>(number("SELECT numabench_clock()") - clock);
  const double victims =
      static_cast<double>(number("SELECT buffers_alloc FROM pg_stat_bgwriter") - allocated);
  const std::vector<MetricValue> values =
      window_values(before, after, kVersion15, kPoolBuffers, "");
  const double reads = *value_of(values, "reads");
  EXPECT_GT(reads, static_cast<double>(kPoolBuffers));
  EXPECT_NEAR(*value_of(values, "buffers_allocated"), reads, 0.005 * reads + 20);
  EXPECT_NEAR(*value_of(values, "buffers_allocated"), victims, 5);
  EXPECT_GE(way, victims);
  EXPECT_NEAR(*value_of(values, "adv_per_victim_hand"), way / victims, 0.01 * way / victims);
  EXPECT_NEAR(*value_of(values, "laps"), way / kPoolBuffers, 0.01);
  EXPECT_THAT(reason_of(values, "evictions"), HasSubstr("needs PostgreSQL 16"));
}

TEST_F(ServerCountersTest, PoolContentsAreThoseOfTheView) {
  fill_pool();
  monitor_.execute("SELECT count(*) FROM small");  // some of another usage count
  const PoolContents contents = read_pool_contents(monitor_);
  EXPECT_EQ(contents.buffers, kPoolBuffers);
  EXPECT_EQ(contents.used,
            number("SELECT count(*) FROM pg_buffercache WHERE relfilenode IS NOT NULL"));
  std::uint64_t sum = 0;
  for (std::size_t usage = 0; usage < contents.by_usage.size(); ++usage) {
    const std::uint64_t seen =
        number(fmt::format("SELECT count(*) FROM pg_buffercache WHERE usagecount = {}", usage));
    // The catalog pages that this query itself reads come and go.
    EXPECT_NEAR(static_cast<double>(contents.by_usage[usage]), static_cast<double>(seen), 30);
    sum += contents.by_usage[usage];
  }
  EXPECT_EQ(sum, contents.used);
  EXPECT_GT(contents.used, kPoolBuffers * 9 / 10);
}

TEST_F(ServerCountersTest, FreshPoolIsMostlyFree) {
  const PoolContents contents = read_pool_contents(monitor_);
  EXPECT_EQ(contents.buffers, kPoolBuffers);
  EXPECT_LT(contents.used, kPoolBuffers / 2);
  EXPECT_GT(contents.used, 0u);
}

TEST_F(ServerCountersTest, ClientsThatStayAreNamed) {
  EXPECT_NO_THROW(wait_for_clients_to_leave(monitor_, 10));
  const Connection client = server_.connect();
  const std::string error = error_of([&] { wait_for_clients_to_leave(monitor_, 0.2); }).problem();
  EXPECT_THAT(error,
              AllOf(HasSubstr(fmt::format("pid {} (", client.backend_pid())), HasSubstr("idle")));
}

TEST_F(ServerCountersTest, WaitsAreSampledByTheirEvents) {
  WaitSampler sampler;
  sampler.sample(monitor_);
  EXPECT_THAT(reason_of(sampler.values(), "waits_io_pct"), HasSubstr("no client was seen"));

  const Connection idle = server_.connect();
  Connection sleeping = server_.connect();
  std::thread sleeper([&] { EXPECT_ANY_THROW(sleeping.execute("SELECT pg_sleep(600)")); });
  const std::string pid = std::to_string(sleeping.backend_pid());
  while (monitor_.value("SELECT wait_event FROM pg_stat_activity WHERE pid = " + pid) !=
         "PgSleep") {
  }
  sampler.sample(monitor_);
  sampler.sample(monitor_);
  monitor_.execute("SELECT pg_terminate_backend(" + pid + ")");
  sleeper.join();
  const std::vector<MetricValue> values = sampler.values();
  EXPECT_EQ(value_of(values, "waits_client_pct"), 50);
  EXPECT_EQ(value_of(values, "waits_none_pct"), 0);
  EXPECT_EQ(value_of(values, "waits_lwlock_pct"), 0);
  EXPECT_EQ(value_of(values, "waits_io_pct"), 0);
  EXPECT_EQ(sampler.csv(), "type,event,samples\nClient,ClientRead,2\nTimeout,PgSleep,2\n");
}

/// Adds the addresses of the pages of anonymous shared memory that the process has touched, by
/// /proc/PID/pagemap.
void add_touched_pages(int pid, std::set<std::uint64_t>& pages) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::ifstream pagemap;
  pagemap.rdbuf()->pubsetbuf(nullptr, 0);  // the kernel gives whole entries only
  pagemap.open(fmt::format("/proc/{}/pagemap", pid), std::ios::binary);
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/dev/zero") == std::string::npos) continue;
    std::uint64_t begin = 0, end = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lx-%lx", &begin, &end), 2);
    pagemap.seekg(static_cast<std::streamoff>(begin / 4096 * 8));
    for (std::uint64_t page = begin; page < end; page += 4096) {
      std::uint64_t entry = 0;
      pagemap.read(reinterpret_cast<char*>(&entry), sizeof entry);
      if ((entry >> 63) != 0) pages.insert(page);
    }
  }
}

TEST_F(ServerCountersTest, SharedMemoryIsWhatAllProcessesTouched) {
  Connection other = server_.connect();
  const std::uint64_t half = number("SELECT pg_relation_size('large') / 8192 / 2");
  monitor_.execute(fmt::format("SELECT pg_prewarm('large', 'buffer', 'main', 0, {})", half));
  other.execute(fmt::format("SELECT pg_prewarm('large', 'buffer', 'main', {}, NULL)", half));
  std::set<std::uint64_t> pages;
  add_touched_pages(monitor_.backend_pid(), pages);
  const auto one_process = static_cast<double>(pages.size()) * 4096;
  add_touched_pages(other.backend_pid(), pages);
  for (const pid_t process : children_of(server_.pid())) add_touched_pages(process, pages);
  add_touched_pages(server_.pid(), pages);
  const auto all = static_cast<double>(pages.size()) * 4096;
  ASSERT_GT(all, static_cast<double>(kPoolBuffers) * 8192 * 0.9);
  ASSERT_LT(one_process, 0.9 * all);
  const auto memory =
      pool_memory(main_shared_memory(server_.pid()), PoolMemoryRecord::Moment::kAfter);
  const std::vector<MetricValue> values = pool_memory_values(memory);
  double sum = 0;
  for (const MetricValue& value : values) {
    if (value.metric.starts_with("pool_bytes_node")) sum += value.value.value_or(0);
  }
  if (!value_of(values, "huge_page_bytes")) {
    EXPECT_THAT(reason_of(values, "pool_bytes_node0"), HasSubstr("numa_maps"));
    return;
  }
  // Processes that have ended touched some, too: loading the extensions, recovery.
  EXPECT_GE(sum, all);
  EXPECT_LE(sum, 1.1 * all);
  EXPECT_EQ(value_of(values, "huge_page_bytes"), 0);
}

TEST(SharedMemoryTest, NoSuchProcessHasAReason) {
  const std::vector<MetricValue> values = pool_memory_values(
      pool_memory(main_shared_memory(1 << 30), PoolMemoryRecord::Moment::kAfter));
  EXPECT_FALSE(value_of(values, "pool_bytes_node0"));
  EXPECT_THAT(reason_of(values, "pool_bytes_node0"), HasSubstr("numa_maps"));
  EXPECT_THAT(reason_of(values, "huge_page_bytes"), HasSubstr("numa_maps"));
}

ServerCounters counters_of_16() {
  ServerCounters counters;
  for (auto member :
       {&ServerCounters::heap_hit, &ServerCounters::heap_read, &ServerCounters::index_hit,
        &ServerCounters::index_read, &ServerCounters::buffers_allocated, &ServerCounters::evictions,
        &ServerCounters::io_reads, &ServerCounters::io_read_bytes, &ServerCounters::io_reuses,
        &ServerCounters::written_checkpoint, &ServerCounters::written_bgwriter,
        &ServerCounters::written_backend, &ServerCounters::checkpoints, &ServerCounters::hand}) {
    counters.*member = 1000;
  }
  return counters;
}

TEST(WindowValuesTest, DivideByEvictionsWhereTheServerCountsThem) {
  const ServerCounters before = counters_of_16();
  ServerCounters after = before;
  *after.hand += 6000;
  *after.evictions += 1200;          // the freelist served the other
  *after.buffers_allocated += 2000;  // 800
  EXPECT_EQ(value_of(window_values(before, after, 160004, 1000, ""), "adv_per_victim_hand"), 5);
  EXPECT_EQ(value_of(window_values(before, after, 150018, 1000, ""), "adv_per_victim_hand"), 3);
  EXPECT_EQ(value_of(window_values(before, after, 200000, 1000, ""), "laps"), 6);
}

TEST(WindowValuesTest, AreDifferencesOfEachCounter) {
  const ServerCounters before = counters_of_16();
  ServerCounters after = before;
  *after.heap_hit += 60;
  *after.heap_read += 10;
  *after.index_hit += 25;
  *after.index_read += 5;
  *after.io_reads += 7;
  *after.io_read_bytes += 7 * 8192;
  *after.io_reuses += 3;
  *after.written_checkpoint += 11;
  *after.written_bgwriter += 12;
  *after.written_backend += 13;
  *after.checkpoints += 1;
  const std::vector<MetricValue> values = window_values(before, after, 180000, 1000, "");
  const std::vector<std::pair<std::string, double>> expected = {{"heap_blocks_hit", 60},
                                                                {"heap_blocks_read", 10},
                                                                {"index_blocks_hit", 25},
                                                                {"index_blocks_read", 5},
                                                                {"hit_pct", 85},
                                                                {"accesses", 100},
                                                                {"reads", 15},
                                                                {"io_read_operations", 7},
                                                                {"io_read_bytes", 57344},
                                                                {"io_ring_reuses", 3},
                                                                {"evictions", 0},
                                                                {"buffers_allocated", 0},
                                                                {"buffers_written_backend", 13},
                                                                {"buffers_written_checkpoint", 11},
                                                                {"buffers_written_bgwriter", 12},
                                                                {"checkpoints", 1},
                                                                {"laps", 0}};
  for (const auto& [metric, value] : expected) EXPECT_EQ(value_of(values, metric), value) << metric;
  EXPECT_THAT(reason_of(values, "adv_per_victim_hand"), HasSubstr("no buffer was replaced"));
  for (const MetricValue& value : values) EXPECT_NE(find_metric(value.metric), nullptr);
}

TEST(WindowValuesTest, CountersThatWentBackwardsAreAbsent) {
  const ServerCounters before = counters_of_16();
  ServerCounters after = before;
  *after.heap_read = 3;
  *after.evictions = 3;
  *after.hand += 10;
  const std::vector<MetricValue> values = window_values(before, after, 160000, 1000, "");
  for (const char* metric :
       {"heap_blocks_read", "hit_pct", "accesses", "reads", "evictions", "adv_per_victim_hand"}) {
    EXPECT_FALSE(value_of(values, metric)) << metric;
    EXPECT_THAT(reason_of(values, metric), HasSubstr("went backwards")) << metric;
  }
}

TEST(WindowValuesTest, NoHandHasTheBuildersReason) {
  ServerCounters counters = counters_of_16();
  counters.hand.reset();
  const std::vector<MetricValue> values =
      window_values(counters, counters, 160000, 1000, "StrategySyncStart has other arguments");
  EXPECT_EQ(reason_of(values, "laps"), "StrategySyncStart has other arguments");
  EXPECT_EQ(reason_of(values, "adv_per_victim_hand"), "StrategySyncStart has other arguments");
  EXPECT_THAT(reason_of(values, "hit_pct"), HasSubstr("no block"));
}

}  // namespace
}  // namespace numabench
