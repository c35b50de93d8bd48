#include "runner/engines/embedded/embedded_engine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "hosts/error.h"
#include "reports/metric.h"
#include "reports/monitor_metrics.h"
#include "runner/engines/client_placement.h"
#include "runner/engines/embedded/page_source.h"
#include "runner/engines/embedded/tick_clock.h"

namespace numabench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Everything that one run of a small cell needs.
class EmbeddedEngineTest : public ::testing::Test {
 protected:
  EmbeddedEngineTest() {
    host_.provider = "local";
    host_.topology = Topology::of_this_host();
    experiment_.data_directory = directory_.string();
    experiment_.huge_pages = SharedRegion::HugePages::kOff;
  }
  ~EmbeddedEngineTest() override { std::filesystem::remove_all(directory_); }

  CellSetup setup() {
    if (!workload_) workload_ = make_workload(workload_name_, parameters_);
    return {.experiment = experiment_,
            .host = host_,
            .arm = arm_,
            .workload = *workload_,
            .placement = placement_,
            .size = {.pool_pages = pool_pages_, .ratio = ratio_},
            .pool_bytes = pool_pages_ * kPageBytes,
            .clients = clients_,
            .regime = regime_};
  }

  /// Runs the cell until the hand has gone round, and stops it.
  EngineStats run(double laps = 1) {
    const CellSetup cell = setup();
    const std::unique_ptr<Engine> engine = make_embedded_engine();
    engine->prepare(cell, 1);
    engine->start();
    engine->reset_counters();
    wait_for([&] {
      engine->check_alive();
      return engine->progress().laps >= laps;
    });
    EngineStats stats = engine->stats();
    engine->stop();
    return stats;
  }

  /// A window of a lap ends when there has been one, however slow the machine.
  template <typename Condition>
  static void wait_for(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nothing happens any more";
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  static std::map<std::string, double> values(const EngineStats& stats) {
    std::map<std::string, double> values;
    for (const MetricValue& value : stats.values) {
      if (value.value) values[value.metric] = *value.value;
    }
    return values;
  }
  static std::string reason(const EngineStats& stats, const std::string& metric) {
    for (const MetricValue& value : stats.values) {
      if (value.metric == metric) return value.reason;
    }
    return "there is no " + metric;
  }

  std::filesystem::path directory_ = std::filesystem::path(::testing::TempDir()) /
                                     ("numabench-engine-" + std::to_string(getpid()));
  Experiment experiment_;
  Host host_;
  Arm arm_{.name = "stock", .description = "", .policy = {}};
  PlacementConfig placement_{.name = "free", .spreads = {}, .roles = {}};
  std::string workload_name_ = "zipfian";
  ParameterValues parameters_;
  std::uint64_t pool_pages_ = 2048;
  double ratio_ = 1.5;
  int clients_ = 2;
  Regime regime_ = Regime::kNone;

 private:
  std::unique_ptr<Workload> workload_;
};

/// What the run loop adds to an engine's values.
bool is_of_monitors(const std::string& name) {
  return std::ranges::any_of(monitor_metrics(),
                             [&](const MonitorMetric& entry) { return entry.metric.name == name; });
}

TEST_F(EmbeddedEngineTest, EveryMetricIsKnownToTheCatalogueAndStatedOnce) {
  const EngineStats stats = run();
  std::map<std::string, int> stated;
  for (const MetricValue& value : stats.values) {
    EXPECT_NE(find_metric(value.metric), nullptr) << value.metric;
    EXPECT_EQ(value.value.has_value(), value.reason.empty()) << value.metric;
    EXPECT_EQ(++stated[value.metric], 1) << value.metric;
  }
  for (const Metric& metric : metric_catalogue()) {
    if (metric.name == "warmup_s") continue;  // the run loop's own
    if (std::ranges::count(server_metrics(), metric.name, &Metric::name) > 0) continue;
    if (is_of_monitors(metric.name)) continue;
    EXPECT_EQ(stated.count(metric.name), 1u) << metric.name;
  }
}

TEST_F(EmbeddedEngineTest, RefusesAWorkloadThatOnlyAServerHas) {
  workload_name_ = "hotscan";
  parameters_ = {{"scan_rate", "10"}};
  EXPECT_THAT(make_embedded_engine()->refuses(setup()), HasSubstr("for a server only"));
}

TEST_F(EmbeddedEngineTest, TheNumbersOfAWindowAgreeWithEachOther) {
  const EngineStats stats = run();
  auto v = values(stats);
  EXPECT_THAT(stats.breaches, IsEmpty());
  EXPECT_NEAR(v["tps"] * v["window_s"], v["transactions"], 1);
  // A point query reads root, inner, leaf and heap; one may be cut at either end by each client.
  EXPECT_NEAR(v["accesses"], 4 * v["transactions"], 4 * 2 * clients_);
  EXPECT_NEAR(v["hit_pct"], 100 * (1 - v["reads"] / v["accesses"]), 1e-9);
  EXPECT_GE(v["tail"], v["ticks_p9999"]);
  EXPECT_GE(v["ticks_p9999"], v["ticks_p999"]);
  EXPECT_GE(v["latency_max_us"], v["latency_p999_us"]);
  EXPECT_GE(v["latency_p99_us"], v["latency_p50_us"]);
  EXPECT_GE(v["laps"], 1);
  EXPECT_NEAR(v["working_set_ratio"], ratio_, 0.02);
  EXPECT_NEAR(v["occupancy_after_pct"], 100, 0.1);
  // The clients' hands: laps and ticks are counted by different processes.
  EXPECT_NEAR(v["adv_per_victim"] * v["victims"], v["laps"] * double(pool_pages_),
              0.1 * double(pool_pages_));
  EXPECT_THAT(reason(stats, "scans_per_s"), HasSubstr("no scanners"));
  EXPECT_THAT(reason(stats, "bound_engaged"), HasSubstr("no bound"));
}

TEST_F(EmbeddedEngineTest, OneClientOfTheFullSeriesNeverExceedsTheBoundByMoreThanTwo) {
  clients_ = 1;
  arm_.policy.usage = PoolPolicy::Usage::kSecondChance;
  arm_.policy.admission = PoolPolicy::Admission::kProbation;
  arm_.policy.bound = 16;
  arm_.policy.background_writer_spends = true;
  auto v = values(run(5));
  EXPECT_LE(v["tail"], 16 + 2);
  EXPECT_GT(v["victims"], 0);
}

TEST_F(EmbeddedEngineTest, EveryPageReadIsThePageAskedFor) {
  regime_ = Regime::kPageCache;
  const auto v = values(run());
  EXPECT_GT(v.at("reads"), 0);
  EXPECT_GE(v.at("pool_bytes_node0"), double(pool_pages_ * kPageBytes));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "numabench.pages")) << "left behind";
}

TEST_F(EmbeddedEngineTest, ScannersUseARingAndAreCountedApart) {
  workload_name_ = "hotscan";
  const auto v = values(run());
  EXPECT_GT(v.at("transactions"), 0);
  EXPECT_GT(v.at("scan_bytes_per_s"), 0);
}

TEST_F(EmbeddedEngineTest, ADenseMappingServesTheSameWorkload) {
  arm_.policy.mapping = PoolPolicy::Mapping::kDense;
  auto v = values(run());
  EXPECT_NEAR(v["accesses"], 4 * v["transactions"], 4 * 2 * clients_);
  EXPECT_NEAR(v["occupancy_after_pct"], 100, 0.1);
}

TEST_F(EmbeddedEngineTest, WarnsOfFewLapsAndOfPartitionsWithoutNodes) {
  arm_.policy.partitions = static_cast<int>(2 * host_.topology.allowed_nodes().size());
  const EngineStats stats = run(0.1);
  std::vector<std::string> texts;
  for (const EventRecord& event : stats.events) texts.push_back(event.severity + ": " + event.text);
  // However slow the machine, the warning and the number agree.
  const bool few_laps = values(stats).at("laps") < 3;
  EXPECT_EQ(std::any_of(
                texts.begin(), texts.end(),
                [](const std::string& text) { return text.starts_with("warning: the hand made"); }),
            few_laps);
  if (host_.topology.allowed_nodes().size() == 1) {
    EXPECT_THAT(texts, Contains(HasSubstr("info: 2 partitions on a host with 1 node")));
  }
}

TEST_F(EmbeddedEngineTest, EachProcessIsProvedToRunWhereItShould) {
  placement_.spreads["clients"] = Spread::kNodes;
  const EngineStats stats = run(0.1);
  const IdSet allowed = host_.topology.allowed_cpus();
  int clients = 0;
  for (const PlacementProofRecord& proof : stats.placement_proofs) {
    if (proof.role != "clients") continue;
    ++clients;
    EXPECT_THAT(proof.expected, HasSubstr("cpus "));
    EXPECT_THAT(proof.observed, HasSubstr(proof.expected));
  }
  EXPECT_EQ(clients, clients_);
}

/// Processes of this one, by /proc.
std::vector<pid_t> children() {
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
  std::vector<pid_t> pids;
  for (pid_t pid; file >> pid;) pids.push_back(pid);
  return pids;
}

TEST_F(EmbeddedEngineTest, AClientThatLeftItsCpusVoidsTheRunThoughItCameBack) {
  const IdSet allowed = host_.topology.allowed_cpus();
  if (allowed.size() < 2) GTEST_SKIP() << "one CPU: there is nowhere to go";
  placement_.roles["clients"] = {{*allowed.begin()}, MemoryPolicy::kDefault, {}};
  const CellSetup cell = setup();
  const std::unique_ptr<Engine> engine = make_embedded_engine();
  engine->prepare(cell, 1);
  engine->start();
  engine->reset_counters();
  engine->look();
  // The server is forked first, then the clients.
  const pid_t client = children().at(2);
  move_to_cpus(client, allowed);
  engine->look();
  move_to_cpus(client, {*allowed.begin()});
  engine->look();
  wait_for([&] { return engine->progress().transactions > 0; });
  const EngineStats stats = engine->stats();
  engine->stop();
  const std::string difference =
      fmt::format("runs on CPUs {} instead of {}", format_id_list(allowed), *allowed.begin());
  ASSERT_EQ(stats.breaches.size(), 1u);
  EXPECT_EQ(stats.breaches[0].rule, "placement_escaped");
  EXPECT_EQ(stats.breaches[0].what, fmt::format("clients (pid {}) {}", client, difference));
  int differing = 0;
  for (const PlacementProofRecord& proof : stats.placement_proofs) {
    if (proof.differs.empty()) continue;
    ++differing;
    EXPECT_EQ(proof.pid, client);
    EXPECT_EQ(proof.differs, difference);
    EXPECT_THAT(proof.observed, HasSubstr("cpus " + format_id_list(allowed)));
    EXPECT_EQ(proof.looks, 5) << "as the window began, thrice in it, and at its end";
  }
  EXPECT_EQ(differing, 1);
}

TEST_F(EmbeddedEngineTest, TheLoaderFillsThePoolFromItsCpus) {
  const int last = *host_.topology.allowed_cpus().rbegin();
  placement_.roles["loader"] = {{last}, MemoryPolicy::kDefault, {}};
  const EngineStats stats = run(0.1);
  const auto loader =
      std::ranges::find(stats.placement_proofs, "loader", &PlacementProofRecord::role);
  ASSERT_NE(loader, stats.placement_proofs.end());
  EXPECT_EQ(loader->expected, fmt::format("cpus {}", last));
  EXPECT_THAT(loader->observed, HasSubstr(loader->expected));
  EXPECT_TRUE(stats.breaches.empty());
  EXPECT_GT(values(stats).at("transactions"), 0);
}

TEST_F(EmbeddedEngineTest, AServerThatTouchesItsMemoryHasAllOfIt) {
  regime_ = Regime::kPageCache;
  ratio_ = 0.5;  // of the pool is read
  const auto pages_before = [](const EngineStats& stats) {
    std::uint64_t bytes = 0;
    for (const PoolMemoryRecord& record : stats.pool_memory) {
      if (record.moment == PoolMemoryRecord::Moment::kBefore) {
        bytes += record.pages * record.page_bytes;
      }
    }
    return bytes;
  };
  experiment_.huge_pages = SharedRegion::HugePages::kOff;
  const std::uint64_t pool_bytes = pool_pages_ * kPageBytes;
  EXPECT_LT(pages_before(run(0)), pool_bytes);
  placement_.roles["server"].touch = true;
  EXPECT_GE(pages_before(run(0)), pool_bytes);
}

TEST_F(EmbeddedEngineTest, AClientThatDiesEndsTheRun) {
  const CellSetup cell = setup();
  const std::unique_ptr<Engine> engine = make_embedded_engine();
  engine->prepare(cell, 1);
  engine->start();
  ASSERT_THAT(children(), Not(IsEmpty()));
  // The server is forked first, then the clients.
  ::kill(children().at(1), SIGKILL);
  try {
    wait_for([&] {
      engine->check_alive();
      return false;
    });
    FAIL() << "nobody noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRun);
    EXPECT_EQ(error.problem(), "clients 0 was killed by signal 9");
  }
  engine->stop();
  engine->stop();
  EXPECT_THAT(children(), IsEmpty());
}

TEST_F(EmbeddedEngineTest, AForeignPageInTheBackingFileEndsTheRun) {
  regime_ = Regime::kPageCache;
  const CellSetup cell = setup();
  const std::unique_ptr<Engine> engine = make_embedded_engine();
  engine->prepare(cell, 1);
  {
    std::fstream file(directory_ / "numabench.pages", std::ios::in | std::ios::out);
    std::string garbage(cell.workload.dataset(cell.size).bytes(), 'x');
    file.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
  }
  try {
    engine->start();
    FAIL() << "the fill has read garbage";
  } catch (const Error& error) {
    EXPECT_THAT(error.problem(), HasSubstr("gave not a page of ours"));
  }
}

TEST_F(EmbeddedEngineTest, StopBeforePrepareIsHarmless) {
  const std::unique_ptr<Engine> engine = make_embedded_engine();
  engine->stop();
  EXPECT_THROW(engine->start(), Error);
}

TEST_F(EmbeddedEngineTest, RefusesAPartitionThatTheClientsCouldPinWhole) {
  clients_ = 1000;
  pool_pages_ = 2000;
  EXPECT_THAT(make_embedded_engine()->refuses(setup()), HasSubstr("too small for 1000 clients"));
}

TEST_F(EmbeddedEngineTest, RefusesPagesWithoutADirectory) {
  regime_ = Regime::kRealIo;
  experiment_.data_directory = "";
  EXPECT_THAT(make_embedded_engine()->refuses(setup()), HasSubstr("data_directory"));
}

TEST_F(EmbeddedEngineTest, ResidentIsWhatFitsIntoThePool) {
  regime_ = Regime::kResident;
  ratio_ = 1.15;
  EXPECT_THAT(make_embedded_engine()->refuses(setup()), HasSubstr("does not fit into the pool"));
  ratio_ = 0.8;
  EXPECT_EQ(make_embedded_engine()->refuses(setup()), "");
}

TEST_F(EmbeddedEngineTest, TheEstimateCountsPoolFileAndPageCache) {
  const std::unique_ptr<Engine> engine = make_embedded_engine();
  const ResourceEstimate none = engine->estimate(setup());
  EXPECT_EQ(none.disk_bytes, 0u);
  regime_ = Regime::kPageCache;
  const ResourceEstimate memory = engine->estimate(setup());
  const std::uint64_t dataset = setup().workload.dataset(setup().size).bytes();
  EXPECT_EQ(memory.disk_bytes, dataset);
  EXPECT_EQ(memory.memory_bytes, none.memory_bytes + setup().pool_bytes + dataset);
}

TEST(ClientPlacement, SpreadTakesNodesInTurn) {
  const Topology topology = Topology::of_synthetic("pack:2 [numa] core:2 pu:1");
  PlacementConfig config;
  config.spreads["clients"] = Spread::kNodes;
  ClientPlacement placement(config, topology);
  std::vector<int> nodes;
  for (int i = 0; i < 6; ++i) {
    const Placement client = placement.next("clients");
    ASSERT_EQ(client.cpus.size(), 1u);
    nodes.push_back(topology.node_of_cpu(*client.cpus.begin()));
  }
  EXPECT_THAT(nodes, ::testing::ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST(SpreadOrder, IsThatOfItsName) {
  // hwloc numbers the threads of a core side by side: cores are 0-1, 2-3, …; nodes 0-3, 4-7 | …
  const Topology topology = Topology::of_synthetic("pack:2 [numa] core:2 pu:2");
  const auto order = [&](Spread spread) {
    return spread_order(spread, topology.allowed_cpus(), topology);
  };
  EXPECT_THAT(order(Spread::kCores), ::testing::ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(order(Spread::kNodes), ::testing::ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(order(Spread::kPackages), ::testing::ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(order(Spread::kSmtLast), ::testing::ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
  EXPECT_THAT(spread_order(Spread::kSmtLast, {1, 2, 3, 7}, topology),
              ::testing::ElementsAre(1, 7, 2, 3));
}

// A node is not a package: two nodes in each of two packages.
TEST(SpreadOrder, TellsNodesFromPackages) {
  const Topology topology = Topology::of_synthetic("pack:2 group:2 [numa] core:2 pu:1");
  const auto order = [&](Spread spread) {
    return spread_order(spread, topology.allowed_cpus(), topology);
  };
  EXPECT_THAT(order(Spread::kNodes), ::testing::ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(order(Spread::kPackages), ::testing::ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
}

TEST(ClientPlacement, ScannersGoOnWhereTheClientsEnded) {
  const Topology topology = Topology::of_synthetic("pack:2 [numa] core:2 pu:1");
  PlacementConfig config;
  config.spreads = {{"clients", Spread::kCores}, {"scanners", Spread::kCores}};
  config.roles["scanners"] = {{1, 2, 3}, MemoryPolicy::kLocal, {}};
  ClientPlacement placement(config, topology);
  EXPECT_EQ(placement.next("clients").cpus, IdSet{0});
  EXPECT_EQ(placement.next("clients").cpus, IdSet{1});
  EXPECT_EQ(placement.next("scanners"), (Placement{{3}, MemoryPolicy::kLocal, {}}));
  EXPECT_EQ(placement.next("others"), Placement{}) << "not dealt";
}

TEST(ProcessPlacement, OfWhatAServerForksHasItsMemoryPolicy) {
  PlacementConfig config;
  config.roles["server"] = {{0, 1}, MemoryPolicy::kBind, {0}, false, true};
  config.roles["loader"] = {{3}, MemoryPolicy::kDefault, {}};
  EXPECT_EQ(forked_placement(config, "loader"), (Placement{{3}, MemoryPolicy::kBind, {0}}));
  EXPECT_EQ(forked_placement(config, "background_writer"),
            (Placement{{0, 1}, MemoryPolicy::kBind, {0}}));
}

TEST(PageSource, AKilledProcessFileIsUsedAgainAsFarAsItIsWhole) {
  const std::filesystem::path directory =
      std::filesystem::path(::testing::TempDir()) / ("numabench-pages-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  const std::filesystem::path file = directory / "numabench.pages";
  std::filesystem::path kept = directory / "kept";
  {
    PageSource source(directory.string(), Regime::kPageCache);
    source.provide(300);
    std::filesystem::copy_file(file, kept);
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  std::filesystem::resize_file(kept, 200 * kPageBytes + 100);
  std::filesystem::rename(kept, file);
  PageSource source(directory.string(), Regime::kPageCache);
  source.provide(300);
  std::vector<std::byte> page(kPageBytes);
  for (PageNumber number = 0; number < 300; ++number) {
    ASSERT_NO_THROW(source.read(number, page.data())) << number;
  }
  EXPECT_THROW(source.read(300, page.data()), Error);
  std::filesystem::remove_all(directory);
}

TEST(TickClock, AgreesWithTheMonotonicClock) {
  const TickClock clock = TickClock::of_this_host();
  const std::uint64_t outer_start = monotonic_ns();
  const std::uint64_t start = clock.now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::uint64_t inner_ns = clock.to_ns(clock.now() - start);
  const std::uint64_t outer_ns = monotonic_ns() - outer_start;
  EXPECT_GE(double(inner_ns), 50e6 * 0.999);
  EXPECT_LE(double(inner_ns), double(outer_ns) * 1.001);
}

}  // namespace
}  // namespace numabench
