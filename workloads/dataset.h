// The tables and indexes of a workload as one dense space of 8 KiB pages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace numabench {

inline constexpr std::uint64_t kPageBytes = 8192;

/// A page of the dataset: 0 .. Dataset::pages() - 1.
using PageNumber = std::uint32_t;

struct Relation {
  enum class Kind { kHeap, kIndex };
  std::string name;
  Kind kind = Kind::kHeap;
  PageNumber first_page = 0;
  PageNumber pages = 0;
};

class Dataset {
 public:
  /// Appends a relation behind the others. Throws Error(kUsage) when the space exceeds 2^32 pages.
  const Relation& add(const std::string& name, Relation::Kind kind, std::uint64_t pages);

  const std::vector<Relation>& relations() const { return relations_; }
  std::uint64_t pages() const;
  std::uint64_t pages(Relation::Kind kind) const;
  std::uint64_t bytes() const { return pages() * kPageBytes; }

 private:
  std::vector<Relation> relations_;
};

}  // namespace numabench
