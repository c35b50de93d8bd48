#include "runner/engines/postgres/pool_fill.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "hosts/error.h"
#include "runner/engines/postgres/relations.h"

namespace numabench {
namespace {

/// Stops when `room` pages are read; takes them off it.
void prewarm(Connection& connection, const std::vector<StoredRelation>& relations,
             std::uint64_t& room) {
  for (const StoredRelation& relation : relations) {
    const std::uint64_t pages = std::min(relation.pages, room);
    if (pages == 0) continue;
    connection.query("SELECT pg_prewarm($1::oid, 'buffer', 'main', 0, $2::bigint)",
                     {relation.oid, std::to_string(pages - 1)});
    room -= pages;
  }
}

}  // namespace

void fill_pool(Connection& connection, const std::vector<std::string>& tables, FillOrder order,
               std::uint64_t pool_pages) {
  if (order == FillOrder::kCold) return;
  const std::map<std::string, TableRelations> all = relations_of_tables(connection);
  std::vector<StoredRelation> heaps;
  std::vector<StoredRelation> indexes;
  for (const std::string& table : tables) {
    const TableRelations& relations = all.at(table);
    std::ranges::copy(relations.heaps, std::back_inserter(heaps));
    std::ranges::copy(relations.indexes, std::back_inserter(indexes));
  }
  std::uint64_t everything = ~std::uint64_t{0};
  std::uint64_t room = pool_pages;
  switch (order) {
    case FillOrder::kIndexFirst:
      return prewarm(connection, indexes, everything);
    case FillOrder::kHeapFirst:
      return prewarm(connection, heaps, room);
    case FillOrder::kIndexThenHeap:
      prewarm(connection, indexes, room);
      return prewarm(connection, heaps, room);
    case FillOrder::kHeapThenIndex:
      prewarm(connection, heaps, room);
      return prewarm(connection, indexes, everything);
    case FillOrder::kCold:
    case FillOrder::kRandom:
      break;
  }
  throw Error(ErrorKind::kInternal, "a server's pool cannot be filled in this order");
}

}  // namespace numabench
