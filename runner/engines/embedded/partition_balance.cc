#include "runner/engines/embedded/partition_balance.h"

#include <numeric>

namespace numabench {
namespace {

constexpr std::uint64_t kWhole = 100;
constexpr std::uint64_t kLeastMean = 100;
constexpr std::uint64_t kLeastExcess = 10;  // percent of the mean

/// What the partitions ask for, in whole numbers and so with exact quotients: the mean itself is a
/// fraction, but P times it is the sum.
class Demand {
 public:
  explicit Demand(const std::vector<std::uint64_t>& requests)
      : requests_(requests),
        sum_(std::accumulate(requests.begin(), requests.end(), std::uint64_t{0})) {
    for (std::size_t p = 0; p < requests.size(); ++p) total_lack_ += lack(p);
  }

  bool is_unbalanced() const {
    // What some lack is what the others have in excess.
    return sum_ >= kLeastMean * requests_.size() && 100 * total_lack_ >= kLeastExcess * sum_;
  }

  /// The weights of allocations that originate in partition `p`.
  std::vector<std::uint32_t> row(std::size_t p) const {
    std::vector<std::uint32_t> weights(requests_.size(), 0);
    const std::uint64_t asked = requests_.size() * requests_[p];
    const std::uint64_t own = asked <= sum_ ? kWhole : kWhole * sum_ / asked;
    for (std::size_t q = 0; q < requests_.size() && own < kWhole; ++q) {
      weights[q] = static_cast<std::uint32_t>((kWhole - own) * lack(q) / total_lack_);
    }
    weights[p] = static_cast<std::uint32_t>(own);
    return weights;
  }

 private:
  /// P times what partition `p` asks for less than the mean.
  std::uint64_t lack(std::size_t p) const {
    const std::uint64_t asked = requests_.size() * requests_[p];
    return asked < sum_ ? sum_ - asked : 0;
  }

  const std::vector<std::uint64_t>& requests_;
  std::uint64_t sum_;
  std::uint64_t total_lack_ = 0;
};

}  // namespace

PartitionWeights fair_weights(const std::vector<std::uint64_t>& requests) {
  const Demand demand(requests);
  PartitionWeights weights;
  if (!demand.is_unbalanced()) return weights;
  for (std::size_t p = 0; p < requests.size(); ++p) weights.push_back(demand.row(p));
  return weights;
}

void rebalance(ClockSweep& sweep) {
  std::vector<std::uint64_t> requests;
  for (int p = 0; p < sweep.partitions(); ++p) requests.push_back(sweep.take_requests(p));
  const PartitionWeights fair = fair_weights(requests);
  if (fair.empty()) return;
  for (int p = 0; p < sweep.partitions(); ++p) {
    for (int q = 0; q < sweep.partitions(); ++q) {
      const std::uint32_t wanted = fair[static_cast<std::size_t>(p)][static_cast<std::size_t>(q)];
      sweep.set_weight(p, q, (sweep.weight(p, q) + wanted) / 2);
    }
  }
}

}  // namespace numabench
