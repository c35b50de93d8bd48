// Which pages are in the pool before the clients start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/dataset.h"
#include "workloads/workload.h"

namespace numabench {

/// As configs spell the orders: "cold", "index_first" …
std::vector<std::string> fill_order_names();
/// `name` is one of fill_order_names().
FillOrder fill_order(const std::string& name);

/// `order` where a server can fill its pool so. Throws Error(kUsage) for kRandom: pg_prewarm reads
/// ranges of pages in sequence.
FillOrder server_fill(FillOrder order);

/// The pages to load into a pool of `pool_pages`, in order, never more than fit. An index that is
/// loaded last leaves itself room: the heap stops short of the full pool by the index's size.
std::vector<PageNumber> fill_pages(const Dataset& dataset, FillOrder order,
                                   std::uint64_t pool_pages, std::uint64_t seed);

}  // namespace numabench
