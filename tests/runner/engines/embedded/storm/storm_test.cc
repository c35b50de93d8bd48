// Storms: many clients on tiny pools, so that every race of the pool's parts happens often. No page
// may leave while it is pinned, be in two buffers, or be lost.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hosts/process.h"
#include "hosts/shared_region.h"
#include "runner/engines/embedded/background_writer.h"
#include "tests/runner/engines/embedded/pool_fixture.h"
#include "workloads/random.h"

namespace numabench {
namespace {

using testing::small_shape;
using testing::TestBackend;

constexpr int kClients = 6;
constexpr std::uint32_t kBuffers = 32;
constexpr std::uint32_t kPages = 80;
constexpr int kReadsOfAClient = 4'000;

struct Storm {
  std::string name;
  PoolPolicy policy;
};

PoolPolicy base(PoolPolicy::Mapping mapping) {
  PoolPolicy policy;
  policy.mapping = mapping;
  return policy;
}

/// Every family of the policies.
std::vector<Storm> storms_of(PoolPolicy::Mapping mapping) {
  const std::string prefix = mapping == PoolPolicy::Mapping::kDense ? "dense_" : "hash_";
  std::vector<Storm> storms;
  const auto add = [&](const std::string& name, const std::function<void(PoolPolicy&)>& change) {
    storms.push_back({prefix + name, base(mapping)});
    change(storms.back().policy);
  };
  add("stock", [](PoolPolicy&) {});
  add("freelist", [](PoolPolicy& policy) { policy.freelist = true; });
  add("partitioned", [](PoolPolicy& policy) {
    policy.partitions = 2;
    policy.balance = PoolPolicy::Balance::kPerAllocation;
    policy.scan_all_partitions = true;
  });
  add("per_tick", [](PoolPolicy& policy) {
    policy.partitions = 2;
    policy.balance = PoolPolicy::Balance::kPerTick;
  });
  add("full_series", [](PoolPolicy& policy) {
    policy.partitions = 2;
    policy.scan_all_partitions = true;
    policy.usage = PoolPolicy::Usage::kSecondChance;
    policy.admission = PoolPolicy::Admission::kProbation;
    policy.bound = 4;
    policy.background_writer_spends = true;
  });
  add("batched_cooling", [](PoolPolicy& policy) {
    policy.usage = PoolPolicy::Usage::kHotCool;
    policy.batch = PoolPolicy::Batch::kForce;
    policy.batch_size = 8;
  });
  add("prefer_cool", [](PoolPolicy& policy) {
    policy.usage = PoolPolicy::Usage::kHotCool;
    policy.cooling = PoolPolicy::Cooling::kPreferCool;
  });
  return storms;
}

std::vector<Storm> storms() {
  std::vector<Storm> all = storms_of(PoolPolicy::Mapping::kHash);
  for (Storm& storm : storms_of(PoolPolicy::Mapping::kDense)) all.push_back(std::move(storm));
  return all;
}

void write_page(PageNumber page, std::byte* destination) {
  std::uint32_t words[kPageBytes / sizeof(std::uint32_t)];
  std::fill(std::begin(words), std::end(words), page);
  std::memcpy(destination, words, sizeof(words));
}

bool holds(const std::byte* bytes, PageNumber page) {
  std::uint32_t first;
  std::uint32_t last;
  std::memcpy(&first, bytes, sizeof(first));
  std::memcpy(&last, bytes + kPageBytes - sizeof(last), sizeof(last));
  return first == page && last == page;
}

/// What one client does. Returns how often a pinned buffer held another page than the one asked
/// for.
int hammer(BufferPool& pool, int client_index) {
  TestBackend client(pool, client_index, write_page);
  Random random(static_cast<std::uint64_t>(client_index) + 1);
  std::optional<BufferRing> ring;
  if (client_index == 0) ring.emplace(kBuffers);
  int foreign = 0;
  for (int i = 0; i < kReadsOfAClient; ++i) {
    // Two pins at a time, some pages much hotter than others.
    const auto draw = [&] {
      return static_cast<PageNumber>(random.next_below(1 + random.next_below(kPages)));
    };
    const PageNumber page = draw();
    const PageNumber other = draw();
    const BufferId buffer = client.backend.read(page, ring ? &*ring : nullptr).buffer;
    const BufferId other_buffer = client.backend.read(other).buffer;
    if (i % 16 == 0) std::this_thread::yield();  // so that others run while both are pinned
    foreign += holds(client.backend.contents(buffer), page) ? 0 : 1;
    foreign += holds(client.backend.contents(other_buffer), other) ? 0 : 1;
    client.backend.unpin(buffer);
    client.backend.unpin(other_buffer);
  }
  return foreign;
}

PoolShape storm_shape() {
  PoolShape shape = small_shape(kBuffers, kPages);
  shape.page_contents = true;
  return shape;
}

class StormTest : public ::testing::TestWithParam<Storm> {};

TEST_P(StormTest, OfThreadsLosesNothing) {
  BufferPool pool(GetParam().policy, storm_shape());
  std::atomic<int> foreign{0};
  std::atomic<int> running{kClients};
  std::vector<std::thread> threads;
  for (int client = 0; client < kClients; ++client) {
    threads.emplace_back([&, client] {
      foreign += hammer(pool, client);
      --running;
    });
  }
  BackgroundWriter writer(pool);
  while (running > 0) writer.cycle();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(foreign, 0);
  EXPECT_EQ(pool.find_inconsistency(), "");
  // A client that lost a race to bring a page in has given its buffer back without one.
  EXPECT_GE(pool.occupied_buffers(), kBuffers - kClients);
}

TEST_P(StormTest, OfProcessesLosesNothing) {
  BufferPool pool(GetParam().policy, storm_shape());
  std::vector<Worker> workers;
  for (int client = 0; client < kClients; ++client) {
    workers.push_back(
        Worker::fork({}, [&pool, client] { return hammer(pool, client) == 0 ? 0 : 1; }));
  }
  BackgroundWriter writer(pool);
  for (Worker& worker : workers) {
    while (!worker.poll()) writer.cycle();
    EXPECT_TRUE(worker.poll()->ok()) << worker.poll()->exit_code;
  }
  EXPECT_EQ(pool.find_inconsistency(), "");
  // A client that lost a race to bring a page in has given its buffer back without one.
  EXPECT_GE(pool.occupied_buffers(), kBuffers - kClients);
}

INSTANTIATE_TEST_SUITE_P(, StormTest, ::testing::ValuesIn(storms()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace numabench
