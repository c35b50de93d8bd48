#include "hosts/probes/pointer_chase.h"

#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace numabench {

void** make_chase(std::byte* data, std::size_t bytes, std::uint64_t seed) {
  std::vector<std::size_t> order(bytes / kCacheLineBytes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  for (std::size_t last = order.size() - 1; last > 0; --last) {
    std::swap(order[last], order[random() % last]);  // never itself: a single cycle
  }
  const auto line = [&](std::size_t index) {
    return reinterpret_cast<void**>(data + index * kCacheLineBytes);
  };
  for (std::size_t index = 0; index < order.size(); ++index) *line(index) = line(order[index]);
  return line(0);
}

}  // namespace numabench
