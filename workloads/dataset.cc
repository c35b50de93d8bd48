#include "workloads/dataset.h"

#include <fmt/format.h>

#include <limits>

#include "hosts/error.h"

namespace numabench {

const Relation& Dataset::add(const std::string& name, Relation::Kind kind, std::uint64_t pages) {
  const std::uint64_t first = this->pages();
  constexpr std::uint64_t kLimit = std::numeric_limits<PageNumber>::max();
  if (pages > kLimit - first) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the dataset would have more than {} pages of 8 KiB", kLimit),
                "choose a smaller pool or ratio");
  }
  relations_.push_back(
      {name, kind, static_cast<PageNumber>(first), static_cast<PageNumber>(pages)});
  return relations_.back();
}

std::uint64_t Dataset::pages() const {
  return relations_.empty() ? 0
                            : std::uint64_t{relations_.back().first_page} + relations_.back().pages;
}

std::uint64_t Dataset::pages(Relation::Kind kind) const {
  std::uint64_t sum = 0;
  for (const Relation& relation : relations_) {
    if (relation.kind == kind) sum += relation.pages;
  }
  return sum;
}

}  // namespace numabench
