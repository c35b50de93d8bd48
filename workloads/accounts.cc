#include "workloads/accounts.h"

#include <algorithm>
#include <cmath>

namespace numabench {
namespace {

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

struct IndexPages {
  std::uint64_t leaves;
  std::uint64_t inner;
  std::uint64_t total() const { return 1 + inner + leaves; }
};

IndexPages index_pages(std::uint64_t heap_pages) {
  const std::uint64_t leaves =
      divide_up(heap_pages * Accounts::kRowsPerHeapPage, Accounts::kRowsPerLeaf);
  return {leaves, divide_up(leaves, Accounts::kLeavesPerInner)};
}

/// The most heap pages that make no more than `pages` together with their index, by bisection.
std::uint64_t heap_pages_within(std::uint64_t pages) {
  std::uint64_t fits = 0;
  std::uint64_t exceeds = pages + 1;
  while (exceeds - fits > 1) {
    const std::uint64_t middle = fits + (exceeds - fits) / 2;
    (middle + index_pages(middle).total() <= pages ? fits : exceeds) = middle;
  }
  return fits;
}

}  // namespace

Accounts::Accounts(std::uint64_t heap_pages) : heap_pages_(heap_pages) {
  const IndexPages index = index_pages(heap_pages);
  dataset_.add("pgbench_accounts", Relation::Kind::kHeap, heap_pages);
  root_ = dataset_.add("pgbench_accounts_pkey", Relation::Kind::kIndex, index.total()).first_page;
  first_leaf_ = root_ + 1 + static_cast<PageNumber>(index.inner);
}

int Accounts::server_accesses() const {
  // The rightmost page of a level takes one child more before it is split.
  int levels = 1;
  for (std::uint64_t pages = divide_up(rows() - 1, kRowsPerLeaf); pages > 1; levels++) {
    pages = divide_up(pages - 1, kLeavesPerInner);
  }
  return levels + 1;
}

int Accounts::server_range_accesses(std::uint64_t range_rows) const {
  const auto steps = static_cast<double>(range_rows - 1);
  return static_cast<int>(
      std::lround(server_accesses() + steps / kRowsPerHeapPage + steps / kRowsPerLeaf));
}

Accounts Accounts::of_size(const WorkloadSize& size, RatioOf ratio_of) {
  const std::uint64_t pages = size.working_set_pages();
  const std::uint64_t heap = ratio_of == RatioOf::kHeap ? pages : heap_pages_within(pages);
  return Accounts(std::max<std::uint64_t>(1, heap));
}

}  // namespace numabench
