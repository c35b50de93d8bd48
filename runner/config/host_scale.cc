#include "runner/config/host_scale.h"

#include <algorithm>

namespace numabench {

double scale_to_host(const std::vector<FactorSet>& cells, const Topology& topology) {
  double largest = 0;
  for (const FactorSet& cell : cells) {
    if (cell.regime == Regime::kNone) continue;
    largest = std::max(largest, static_cast<double>(cell.pool_bytes) * (1 + cell.ratio));
  }
  const double room = static_cast<double>(topology.memory_bytes()) / 2;
  return largest <= room ? 1 : room / largest;
}

int most_clients(const Topology& topology) {
  return 4 * static_cast<int>(topology.allowed_cpus().size());
}

}  // namespace numabench
