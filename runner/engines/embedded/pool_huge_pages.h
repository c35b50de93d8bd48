// Whether the nodes that a pool's memory must come from have huge pages enough for it.
#pragma once

#include <cstddef>
#include <vector>

#include "hosts/huge_pages.h"
#include "hosts/placement.h"
#include "runner/engines/embedded/buffer_pool.h"
#include "runner/engines/engine.h"

namespace numabench {

/// What each region of a pool takes, in pages of `page_bytes`, and where its memory policy lets
/// them come from: the arm's own, else that of the process that touches it first. `server` touches
/// the descriptors and the mapping, `filler` the page contents unless they are touched at the
/// start.
std::vector<HugePageDemand> huge_page_demands(const PoolPolicy& policy, const PoolShape& shape,
                                              const Placement& server, const Placement& filler,
                                              std::size_t page_bytes);

/// What the experiment's huge_pages comes to: "try" is off where the nodes have too few. Throws
/// Error(kPreflight) for "on", naming the nodes, what is wanted and what is free there.
SharedRegion::HugePages definite_huge_pages(const CellSetup& setup, const PoolShape& shape);

}  // namespace numabench
