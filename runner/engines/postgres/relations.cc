#include "runner/engines/postgres/relations.h"

namespace numabench {
namespace {

/// pg_partition_tree() has no row for a table that is neither partitioned nor a partition. A
/// partitioned table without partitions keeps its row, with NULL in all else.
constexpr const char* kRelations =
    "SELECT named.relname, part.oid, part.is_index, pg_relation_size(part.oid), "
    "pg_relation_size(part.oid) / current_setting('block_size')::int "
    "FROM pg_class AS named "
    "LEFT JOIN LATERAL (SELECT named.oid WHERE named.relkind = 'r' UNION "
    "SELECT relid FROM pg_partition_tree(named.oid) WHERE isleaf) AS leaf(oid) ON true "
    "LEFT JOIN LATERAL (SELECT leaf.oid, false WHERE leaf.oid IS NOT NULL UNION ALL "
    "SELECT indexrelid, true FROM pg_index WHERE indrelid = leaf.oid) AS part(oid, is_index) "
    "ON true "
    "WHERE named.relkind IN ('r', 'p') AND named.relnamespace = 'public'::regnamespace "
    "ORDER BY part.oid";

std::uint64_t sum_of_bytes(const std::vector<StoredRelation>& relations) {
  std::uint64_t bytes = 0;
  for (const StoredRelation& relation : relations) bytes += relation.bytes;
  return bytes;
}

}  // namespace

std::uint64_t TableRelations::bytes() const { return sum_of_bytes(heaps) + sum_of_bytes(indexes); }

std::map<std::string, TableRelations> relations_of_tables(Connection& connection) {
  std::map<std::string, TableRelations> tables;
  for (const Connection::Row& row : connection.query(kRelations)) {
    TableRelations& table = tables[row[0].value()];
    if (!row[1]) continue;
    std::vector<StoredRelation>& kind = row[2] == "t" ? table.indexes : table.heaps;
    kind.push_back({*row[1], std::stoull(row[3].value()), std::stoull(row[4].value())});
  }
  return tables;
}

}  // namespace numabench
