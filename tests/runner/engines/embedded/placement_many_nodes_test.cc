// The embedded engine on machines with several nodes (tests/guests): each process of a run is where
// its placement puts it, and so are the pool's pages, by the kernel's own account.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numaif.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "hosts/error.h"
#include "hosts/huge_pages.h"
#include "hosts/process_stats.h"
#include "runner/engines/embedded/buffer_pool.h"
#include "runner/engines/embedded/embedded_engine.h"
#include "runner/engines/embedded/partition_layout.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/kernel_view.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kPoolPages = 2048;

class EmbeddedOnManyNodes : public ::testing::Test {
 protected:
  EmbeddedOnManyNodes() {
    experiment_.data_directory = directory_.path();
    experiment_.huge_pages = SharedRegion::HugePages::kOff;
  }
  void SetUp() override {
    if (nodes_.size() < 2) GTEST_SKIP() << "needs two nodes with memory";
  }

  /// A window of a few transactions, with `look` in it.
  EngineStats run(const std::function<void()>& look = [] {}) {
    const CellSetup setup{experiment_,
                          host_,
                          arm_,
                          *workload_,
                          placement_,
                          {pool_pages_, 0.5},
                          pool_pages_ * kPageBytes,
                          2,
                          Regime::kPageCache};
    const std::unique_ptr<Engine> engine = make_embedded_engine();
    engine->prepare(setup, 1);
    engine->start();
    engine->reset_counters();
    while (engine->progress().transactions == 0) {
      engine->check_alive();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    engine->look();
    look();
    EngineStats stats = engine->stats();
    engine->stop();
    for (const Breach& breach : stats.breaches) ADD_FAILURE() << breach.rule << ": " << breach.what;
    for (const PlacementProofRecord& proof : stats.placement_proofs) {
      EXPECT_EQ(proof.differs, "") << proof.role << ": " << proof.observed;
    }
    return stats;
  }

  static std::map<int, double> pool_by_node(const EngineStats& stats) {
    std::map<int, double> bytes;
    for (const PoolMemoryRecord& record : stats.pool_memory) {
      if (record.moment == PoolMemoryRecord::Moment::kAfter) {
        bytes[record.node] += static_cast<double>(record.pages * record.page_bytes);
      }
    }
    return bytes;
  }

  /// All of the pool is touched by the server, so that its policy decides.
  std::map<int, double> pool_of_server_under(const Placement& placement) {
    placement_.roles["server"] = placement;
    placement_.roles["server"].touch = true;
    check(placement_.roles["server"], host_.topology);
    return pool_by_node(run());
  }

  /// The engine's own process writes the locks before there is a server.
  static void expect_nearly_all_on(int node, const std::map<int, double>& bytes) {
    double elsewhere = 0;
    for (const auto& [other, of_other] : bytes) elsewhere += other == node ? 0 : of_other;
    ASSERT_TRUE(bytes.contains(node));
    EXPECT_GE(bytes.at(node), static_cast<double>(kPoolPages * kPageBytes));
    EXPECT_LE(elsewhere, 0.05 * static_cast<double>(kPoolPages * kPageBytes));
  }

  std::uint64_t pool_pages_ = kPoolPages;
  TemporaryDirectory directory_;
  Experiment experiment_;
  Host host_{.provider = "local", .topology = Topology::of_this_host(), .snapshot = {}};
  const IdSet nodes_ = host_.topology.allowed_nodes();
  const int last_ = nodes_.empty() ? -1 : *nodes_.rbegin();
  Arm arm_{.name = "stock", .description = "", .policy = {}};
  std::unique_ptr<Workload> workload_ = make_workload("zipfian", {});
  PlacementConfig placement_{.name = "tested", .spreads = {}, .roles = {}};
};

TEST_F(EmbeddedOnManyNodes, BoundPoolLiesOnItsNode) {
  for (const int node : nodes_) {
    expect_nearly_all_on(node, pool_of_server_under({{}, MemoryPolicy::kBind, {node}}));
  }
}

TEST_F(EmbeddedOnManyNodes, PreferredPoolLiesOnItsNodeWhileThereIsRoom) {
  expect_nearly_all_on(last_, pool_of_server_under({{}, MemoryPolicy::kPreferred, {last_}}));
}

TEST_F(EmbeddedOnManyNodes, InterleavedPoolLiesOnAllNodesAlike) {
  const auto bytes = pool_of_server_under({{}, MemoryPolicy::kInterleave, nodes_});
  ASSERT_EQ(bytes.size(), nodes_.size());
  double sum = 0;
  for (const auto& [node, of_node] : bytes) sum += of_node;
  for (const auto& [node, of_node] : bytes) {
    EXPECT_NEAR(of_node, sum / static_cast<double>(nodes_.size()), 0.02 * sum) << node;
  }
}

// 16 MiB of pages with descriptors and mapping: at most 10 huge pages of 2 MiB. The kernel grants
// the mapping while the host has them, and sends a bus error at the first touch of one too many.
class HugePoolOnManyNodes : public EmbeddedOnManyNodes {
 protected:
  void SetUp() override {
    EmbeddedOnManyNodes::SetUp();
    if (IsSkipped()) return;
    if (count_huge_pages().page_bytes != 2 << 20) GTEST_SKIP() << "needs huge pages of 2 MiB";
    for (const int node : nodes_) free_[node] = free_huge_pages_of_node(node).value_or(0);
    if (free_on(last_) < 10 || free_on(last_) > 20) GTEST_SKIP() << "needs 10 to 20 huge pages";
    experiment_.huge_pages = SharedRegion::HugePages::kOn;
  }
  std::uint64_t free_on(int node) const { return free_.at(node); }

  std::map<int, std::uint64_t> free_;
};

TEST_F(HugePoolOnManyNodes, LiesInHugePagesOfItsNodeWhileThereAreEnough) {
  const auto bytes = pool_of_server_under({{}, MemoryPolicy::kBind, {last_}});
  EXPECT_GE(bytes.at(last_), static_cast<double>(kPoolPages * kPageBytes));
}

TEST_F(HugePoolOnManyNodes, IsRefusedBeforeTheStartWhereItsNodeHasTooFew) {
  pool_pages_ = (free_on(last_) + 1) * (2 << 20) / kPageBytes;
  const Error bound = error_of([&] { pool_of_server_under({{}, MemoryPolicy::kBind, {last_}}); });
  EXPECT_EQ(bound.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(bound.what(), HasSubstr(fmt::format("node {} has {} free huge pages of the {} wanted",
                                                  last_, free_on(last_), free_on(last_) + 3)));
  const IdSet one{last_};
  const Error interleaved = error_of([&] {
    pool_of_server_under({{}, MemoryPolicy::kInterleave, one});
  });
  EXPECT_THAT(interleaved.what(), HasSubstr(fmt::format("node {} has", last_)));
}

TEST_F(HugePoolOnManyNodes, TakesSmallPagesThereWhenItMay) {
  experiment_.huge_pages = SharedRegion::HugePages::kTry;
  pool_pages_ = (free_on(last_) + 1) * (2 << 20) / kPageBytes;
  const auto bytes = pool_of_server_under({{}, MemoryPolicy::kBind, {last_}});
  EXPECT_GE(bytes.at(last_), static_cast<double>(pool_pages_ * kPageBytes));
}

// First touch: a pool that one node's CPUs have touched lies there, whoever uses it.
TEST_F(EmbeddedOnManyNodes, TouchedPoolLiesWhereItWasTouched) {
  for (const int node : host_.topology.nodes_with_cpus()) {
    if (!nodes_.contains(node)) continue;
    const auto bytes =
        pool_of_server_under({cpus_of_nodes({node}, host_.topology), MemoryPolicy::kDefault, {}});
    expect_nearly_all_on(node, bytes);
  }
}

TEST_F(EmbeddedOnManyNodes, TheLoadersNodeGetsWhatTheServerDidNotTouch) {
  const auto place = [&](int node) {
    return Placement{cpus_of_nodes({node}, host_.topology), MemoryPolicy::kDefault, {}};
  };
  const IdSet with_cpus = host_.topology.nodes_with_cpus();
  const int loader = *with_cpus.rbegin();
  if (with_cpus.size() < 2 || !nodes_.contains(loader)) GTEST_SKIP() << "needs CPUs on two nodes";
  placement_.roles = {{"server", place(*with_cpus.begin())}, {"loader", place(loader)}};
  workload_ = make_workload("zipfian", {{"fill", "heap_then_index"}});
  const auto bytes = pool_by_node(run());
  // Half of the pool is filled; the rest is never touched.
  EXPECT_GE(bytes.at(loader), 0.45 * static_cast<double>(kPoolPages * kPageBytes));
}

TEST_F(EmbeddedOnManyNodes, EachRoleRunsOnTheCpusOfItsNode) {
  const IdSet with_cpus = host_.topology.nodes_with_cpus();
  if (with_cpus.size() < 2) GTEST_SKIP() << "needs CPUs on two nodes";
  const IdSet server = cpus_of_nodes({*with_cpus.begin()}, host_.topology);
  const IdSet clients = cpus_of_nodes({*with_cpus.rbegin()}, host_.topology);
  placement_.roles = {{"server", {server, MemoryPolicy::kLocal, {}}},
                      {"clients", {clients, MemoryPolicy::kLocal, {}}}};
  std::vector<std::string> masks;  // the server is forked first
  const EngineStats stats = run([&] {
    for (const pid_t child : children_of(::getpid())) {
      masks.push_back(status_value(child, "Cpus_allowed_list"));
    }
  });
  EXPECT_THAT(masks,
              ::testing::UnorderedElementsAre(format_id_list(server), format_id_list(server),
                                              format_id_list(clients), format_id_list(clients)))
      << "the server and its background writer, and two clients";
}

TEST_F(EmbeddedOnManyNodes, SpreadClientsTakeNodesInTurn) {
  placement_.spreads["clients"] = Spread::kNodes;
  std::vector<int> nodes;
  run([&] {
    for (const pid_t child : children_of(::getpid())) {
      const auto cpus = *parse_id_list(status_value(child, "Cpus_allowed_list"));
      if (cpus.size() == 1) nodes.push_back(host_.topology.node_of_cpu(*cpus.begin()));
    }
  });
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0] != nodes[1], host_.topology.nodes_with_cpus().size() > 1);
}

/// Where the page at `address` lies, by move_pages(2).
int node_of_page(const void* address) {
  void* page = const_cast<void*>(address);
  int node = -1;
  return ::move_pages(0, 1, &page, nullptr, &node, 0) == 0 ? node : -1;
}

TEST_F(EmbeddedOnManyNodes, BuffersOfEachPartitionLieOnItsNode) {
  PoolPolicy policy;
  policy.partitions = 0;  // one a node
  policy.buffers_by_node = true;
  policy.memory = PoolPolicy::Memory::kPrefault;
  PoolShape shape;
  shape.buffers = kPoolPages;
  shape.dataset_pages = 2 * kPoolPages;
  shape.nodes.assign(nodes_.begin(), nodes_.end());
  shape.page_contents = true;
  shape.huge_pages = SharedRegion::HugePages::kOff;
  BufferPool pool(policy, shape);
  pool.place_memory();
  const PartitionLayout layout(shape.buffers, pool.partitions());
  ASSERT_EQ(pool.partitions(), static_cast<int>(nodes_.size()));
  for (int partition = 0; partition < pool.partitions(); ++partition) {
    const int node = shape.nodes[static_cast<std::size_t>(partition)];
    const std::uint32_t first = layout.first_buffer(partition);
    // A memory page at the end may be the next partition's.
    const std::uint32_t last = first + layout.size(partition) - 2;
    for (const std::uint32_t buffer : {first + 1, (first + last) / 2, last}) {
      EXPECT_EQ(node_of_page(pool.contents(buffer)), node) << buffer;
    }
    EXPECT_EQ(node_of_page(&pool.descriptor((first + last) / 2)), node);
  }
}

}  // namespace
}  // namespace numabench
