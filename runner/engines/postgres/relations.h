// What a table's pages lie in.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/engines/postgres/connection.h"

namespace numabench {

/// A relation with pages of its own.
struct StoredRelation {
  std::string oid;
  std::uint64_t bytes = 0;  ///< pg_relation_size: of the main fork
  std::uint64_t pages = 0;  ///< bytes ÷ the server's block size
};

/// The leaves of the table's partition tree, or the plain table itself, and the indexes of these,
/// each in the order of creation. A partitioned table and its indexes have no pages.
struct TableRelations {
  std::vector<StoredRelation> heaps;
  std::vector<StoredRelation> indexes;

  std::uint64_t bytes() const;  ///< of all
};

/// Of each plain table, partitioned table and partition in `public`, by name as in pg_class.
std::map<std::string, TableRelations> relations_of_tables(Connection& connection);

}  // namespace numabench
