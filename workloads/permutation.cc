#include "workloads/permutation.h"

#include <bit>

#include "workloads/random.h"

namespace numabench {

Permutation::Permutation(std::uint64_t n, std::uint64_t seed)
    : n_(n),
      right_bits_(static_cast<unsigned>(std::bit_width(n - 1)) / 2),
      right_mask_((std::uint64_t{1} << right_bits_) - 1),
      columns_(((n - 1) >> right_bits_) + 1) {
  Random random(seed);
  for (Round& round : rounds_) {
    round = {random.next(), random.next()};
  }
}

}  // namespace numabench
