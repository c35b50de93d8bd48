#include "workloads/fill.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "hosts/error.h"
#include "workloads/random.h"

namespace numabench {
namespace {

struct NamedOrder {
  const char* name;
  FillOrder order;
};

constexpr NamedOrder kOrders[] = {
    {"cold", FillOrder::kCold},
    {"index_first", FillOrder::kIndexFirst},
    {"index_then_heap", FillOrder::kIndexThenHeap},
    {"heap_then_index", FillOrder::kHeapThenIndex},
    {"heap_first", FillOrder::kHeapFirst},
    {"random", FillOrder::kRandom},
};

/// Appends the relations of `kind`, in sequence, until `pages` holds `limit` pages.
void append(std::vector<PageNumber>& pages, const Dataset& dataset, Relation::Kind kind,
            std::uint64_t limit) {
  for (const Relation& relation : dataset.relations()) {
    if (relation.kind != kind) continue;
    const std::size_t old_size = pages.size();
    pages.resize(old_size + std::min<std::uint64_t>(relation.pages, limit - old_size));
    std::iota(pages.begin() + static_cast<std::ptrdiff_t>(old_size), pages.end(),
              relation.first_page);
  }
}

/// `count` pages of all, without repetition, in random order: the beginning of a Fisher–Yates
/// shuffle.
std::vector<PageNumber> random_pages(std::uint64_t all, std::uint64_t count, std::uint64_t seed) {
  std::vector<PageNumber> pages(all);
  std::iota(pages.begin(), pages.end(), PageNumber{0});
  Random random(seed);
  for (std::uint64_t i = 0; i < count; i++) {
    std::swap(pages[i], pages[i + random.next_below(all - i)]);
  }
  pages.resize(count);
  return pages;
}

}  // namespace

std::vector<std::string> fill_order_names() {
  std::vector<std::string> names;
  for (const NamedOrder& known : kOrders) names.emplace_back(known.name);
  return names;
}

FillOrder fill_order(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kOrders), std::end(kOrders),
                   [&](const NamedOrder& known) { return known.name == name; });
  if (found == std::end(kOrders)) {
    throw Error(ErrorKind::kInternal, "unchecked fill order '" + name + "'");
  }
  return found->order;
}

FillOrder server_fill(FillOrder order) {
  if (order == FillOrder::kRandom) {
    throw Error(ErrorKind::kUsage, "a server's pool cannot be filled in random order",
                "choose another `fill`, or the embedded engine");
  }
  return order;
}

std::vector<PageNumber> fill_pages(const Dataset& dataset, FillOrder order,
                                   std::uint64_t pool_pages, std::uint64_t seed) {
  constexpr auto kHeap = Relation::Kind::kHeap;
  constexpr auto kIndex = Relation::Kind::kIndex;
  const std::uint64_t count = std::min(pool_pages, dataset.pages());
  const std::uint64_t index = std::min(pool_pages, dataset.pages(kIndex));
  std::vector<PageNumber> pages;
  switch (order) {
    case FillOrder::kCold:
      break;
    case FillOrder::kIndexFirst:
      append(pages, dataset, kIndex, pool_pages);
      break;
    case FillOrder::kIndexThenHeap:
      append(pages, dataset, kIndex, pool_pages);
      append(pages, dataset, kHeap, pool_pages);
      break;
    case FillOrder::kHeapThenIndex:
      append(pages, dataset, kHeap, pool_pages - index);
      append(pages, dataset, kIndex, pool_pages);
      break;
    case FillOrder::kHeapFirst:
      append(pages, dataset, kHeap, pool_pages);
      break;
    case FillOrder::kRandom:
      pages = random_pages(dataset.pages(), count, seed);
      break;
  }
  return pages;
}

}  // namespace numabench
