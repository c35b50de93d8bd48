// The real pool does, step for step, what the brute-force model does: random strings of operations
// under every combination of switches, and long ones under the canonical arms.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "hosts/error.h"
#include "tests/runner/engines/embedded/model_pair.h"
#include "workloads/random.h"

namespace numabench {
namespace {

/// Each policy with each value of the switch.
template <typename Value>
void multiply(std::vector<PoolPolicy>& policies, Value PoolPolicy::*member,
              const std::vector<Value>& values) {
  std::vector<PoolPolicy> product;
  for (PoolPolicy policy : policies) {
    for (const Value value : values) {
      policy.*member = value;
      product.push_back(policy);
    }
  }
  policies = std::move(product);
}

bool accepted(const PoolPolicy& policy) {
  try {
    check_policy(policy);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Whether the policy only repeats another one of the product: a switch is set that has no effect.
bool redundant(const PoolPolicy& policy) {
  const bool refreshes_one_home = policy.partitions == 1 && policy.home_refresh != 1;
  const bool sizes_no_batch =
      policy.batch != PoolPolicy::Batch::kForce && policy.batch_size != PoolPolicy{}.batch_size;
  return refreshes_one_home || sizes_no_batch;
}

struct Sweeps {
  int partitions;
  std::vector<int> nodes;
};
const std::vector<Sweeps> kSweeps = {{1, {0}},    {1, {0, 1}},    {2, {0}},
                                     {3, {0}},    {4, {0}},       {0, {0, 1}},
                                     {4, {0, 1}}, {0, {0, 1, 2}}, {4, {0, 1, 2, 3}}};

std::vector<PoolPolicy> all_policies(const PoolPolicy& start) {
  using P = PoolPolicy;
  std::vector<P> policies{start};
  multiply(policies, &P::balance,
           {P::Balance::kOff, P::Balance::kPerAllocation, P::Balance::kPerTick});
  multiply(policies, &P::scan_all_partitions, {false, true});
  multiply(policies, &P::home_refresh, {1, 3});
  multiply(policies, &P::admission, {P::Admission::kReferenced, P::Admission::kProbation});
  multiply(policies, &P::bound, {0, 1, 3, 128});
  multiply(policies, &P::background_writer, {false, true});
  multiply(policies, &P::background_writer_spends, {false, true});
  multiply(policies, &P::freelist, {false, true});
  multiply(policies, &P::rings, {false, true});
  multiply(policies, &P::mapping, {P::Mapping::kHash, P::Mapping::kDense});
  std::erase_if(policies, [](const P& policy) { return !accepted(policy) || redundant(policy); });
  return policies;
}

/// A pool of a few buffers and a short string; every fortieth is so long, and its cycles so far
/// apart, that the balancer sees enough requests to move.
Trial random_trial(const PoolPolicy& policy, const std::vector<int>& nodes, std::uint64_t seed) {
  Random random(derived_seed(seed, "circumstances"));
  const auto below = [&random](std::uint32_t bound) {
    return static_cast<std::uint32_t>(random.next_below(bound));
  };
  const auto partitions =
      policy.partitions == 0 ? nodes.size() : static_cast<std::size_t>(policy.partitions);
  const auto fewest = static_cast<std::uint32_t>(partitions);
  Trial trial{.policy = policy, .shape = {}, .string = {}, .seed = seed};
  trial.shape.nodes = nodes;
  trial.shape.huge_pages = SharedRegion::HugePages::kOff;
  trial.shape.buffers = fewest + below(40 - fewest + 1);
  trial.shape.dataset_pages = trial.shape.buffers + 1 + below(2 * trial.shape.buffers);
  trial.string.pages = trial.shape.dataset_pages;
  trial.string.hot_pages = 1 + below(trial.shape.buffers);
  trial.string.clients = 1 + below(3);
  trial.string.length = 40 + below(80);
  if (below(40) == 0) {
    trial.string.length = 4000;
    trial.string.cycle_every = 1000;
  }
  return trial;
}

void expect_agreement(const Trial& trial) {
  if (const std::optional<Disagreement> found = find_disagreement(trial)) {
    FAIL() << to_string(trial, *found);
  }
}

struct Arm {
  std::string name;
  PoolPolicy policy;
};
std::ostream& operator<<(std::ostream& out, const Arm& arm) { return out << arm.name; }
std::string name_of(const testing::TestParamInfo<Arm>& info) { return info.param.name; }

/// What the sweep knows of a use, and how it takes ids: a test each, so that they can be run apart.
/// The rest of the product is inside.
std::vector<Arm> starts() {
  using P = PoolPolicy;
  std::vector<P> policies{P{}};
  multiply(policies, &P::usage, {P::Usage::kCount, P::Usage::kSecondChance, P::Usage::kHotCool});
  multiply(policies, &P::cooling, {P::Cooling::kInPlace, P::Cooling::kPreferCool});
  multiply(policies, &P::batch, {P::Batch::kOff, P::Batch::kAuto, P::Batch::kForce});
  multiply(policies, &P::batch_size, {1, 3, 32});
  std::vector<Arm> arms;
  for (const P& policy : policies) {
    if (!accepted(policy) || redundant(policy)) continue;
    arms.push_back({policy_option(policy, "usage") + "_" + policy_option(policy, "cooling") +
                        "_batch_" + policy_option(policy, "batch") + "_" +
                        policy_option(policy, "batch_size"),
                    policy});
  }
  return arms;
}

class ModelProperty : public testing::TestWithParam<Arm> {};

TEST_P(ModelProperty, PoolDoesWhatTheModelDoesUnderEveryCombinationOfSwitches) {
  std::uint64_t seed = 0;
  for (const Sweeps& sweeps : kSweeps) {
    PoolPolicy start = GetParam().policy;
    start.partitions = sweeps.partitions;
    for (const PoolPolicy& policy : all_policies(start)) {
      expect_agreement(random_trial(policy, sweeps.nodes, ++seed));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(seed, 5000u);  // the product was not emptied by a switch that is refused everywhere
}

INSTANTIATE_TEST_SUITE_P(Policies, ModelProperty, testing::ValuesIn(starts()), name_of);

PoolPolicy numa_only() {
  return {.partitions = 0,
          .balance = PoolPolicy::Balance::kPerAllocation,
          .scan_all_partitions = true,
          .home_refresh = 128};
}

PoolPolicy full_series() {
  PoolPolicy policy = numa_only();
  policy.usage = PoolPolicy::Usage::kSecondChance;
  policy.admission = PoolPolicy::Admission::kProbation;
  policy.bound = 128;
  policy.background_writer_spends = true;
  policy.batch = PoolPolicy::Batch::kAuto;
  return policy;
}

PoolPolicy cooling_stage(PoolPolicy::Cooling cooling) {
  return {.usage = PoolPolicy::Usage::kHotCool,
          .admission = PoolPolicy::Admission::kProbation,
          .batch = PoolPolicy::Batch::kForce,
          .cooling = cooling};
}

class ModelArms : public testing::TestWithParam<Arm> {
 protected:
  /// Four clients on two nodes; the seed chooses how pages are found.
  static Trial trial(std::uint32_t buffers, std::size_t length, unsigned cycle_every,
                     std::uint64_t seed) {
    Trial result{.policy = GetParam().policy,
                 .shape = {.buffers = buffers,
                           .dataset_pages = 3 * buffers,
                           .nodes = {0, 1},
                           .huge_pages = SharedRegion::HugePages::kOff},
                 .string = {.length = length,
                            .clients = 4,
                            .pages = 3 * buffers,
                            .hot_pages = buffers / 2,
                            .cycle_every = cycle_every},
                 .seed = seed};
    if (seed % 2 == 0) result.policy.mapping = PoolPolicy::Mapping::kDense;
    return result;
  }
};

TEST_P(ModelArms, PoolDoesWhatTheModelDoesOnLongStrings) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto buffers = static_cast<std::uint32_t>(100 + 50 * seed);
    expect_agreement(trial(buffers, 30000, 1500, seed));
    if (HasFatalFailure()) return;
  }
}

// The background writer's least scan, a 600th of a partition, shows only in a larger pool, once it
// is full, with many cycles and few misses.
TEST_P(ModelArms, PoolDoesWhatTheModelDoesInALargeQuietPool) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const auto buffers = static_cast<std::uint32_t>(1300 * seed);
    expect_agreement(trial(buffers, 16000 * seed, 2, seed));
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Arms, ModelArms,
    testing::Values(Arm{"stock", {}}, Arm{"numa_only", numa_only()},
                    Arm{"full_series", full_series()},
                    Arm{"cooling_stage", cooling_stage(PoolPolicy::Cooling::kInPlace)},
                    Arm{"prefer_cool", cooling_stage(PoolPolicy::Cooling::kPreferCool)}),
    name_of);

}  // namespace
}  // namespace numabench
