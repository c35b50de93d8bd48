// Sequential scans of whole tables: what passes through the pool once, with or without a ring.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workloads/fill.h"
#include "workloads/parameters.h"
#include "workloads/random.h"
#include "workloads/registry.h"
#include "workloads/scripts/scripts.h"
#include "workloads/table_scan.h"

namespace numabench {
namespace {

/// PostgreSQL gives a sequential scan a ring when the relation has more pages than this.
std::uint64_t ring_threshold(std::uint64_t pool_pages) { return pool_pages / 4; }

class SeqscanWorkload : public Workload {
 public:
  explicit SeqscanWorkload(const Parameters& parameters)
      : tables_(parameters.integer("tables")),
        partitions_(parameters.integer("partitions")),
        query_(parameters.choice("query")),
        fill_(fill_order(parameters.choice("fill"))) {}

  std::string_view name() const override { return "seqscan"; }

  /// All partitions of the first table, then those of the second, and so on.
  Dataset dataset(const WorkloadSize& size) const override {
    return shared_dataset(name(), size, tables_ * partitions_, [&](std::uint64_t i) {
      return fmt::format("table_{}_part_{}", i / partitions_ + 1, i % partitions_ + 1);
    });
  }

  std::vector<Role> roles(int clients) const override {
    return {{.name = "clients", .kind = Role::Kind::kScan, .count = clients}};
  }

  std::unique_ptr<AccessStream> open_stream(const Role&, int index, const WorkloadSize& size,
                                            std::uint64_t) const override {
    const Dataset all = dataset(size);
    const std::uint64_t table = static_cast<std::uint64_t>(index) % tables_;
    std::vector<Extent> extents;
    for (std::uint64_t i = table * partitions_; i < (table + 1) * partitions_; i++) {
      const Relation& relation = all.relations()[i];
      const bool ring = relation.pages > ring_threshold(size.pool_pages);
      extents.push_back(
          {relation.first_page, relation.pages,
           static_cast<std::uint8_t>(Access::kScan | (ring ? Access::kBulkRead : 0))});
    }
    return std::make_unique<TableScanStream>(std::move(extents));
  }

  std::vector<PageNumber> fill_pages(const WorkloadSize& size, std::uint64_t seed) const override {
    return numabench::fill_pages(dataset(size), fill_, size.pool_pages, derived_seed(seed, "fill"));
  }

  std::vector<PageNumber> hot_pages(const WorkloadSize&, std::uint64_t) const override {
    return {};
  }

  /// The working set to the nearest page a partition: partitions by ranges of keys are of equal
  /// size.
  SqlWorkload sql(const WorkloadSize& size, int clients) const override {
    const std::uint64_t pages = equal_pages(dataset(size));
    SqlWorkload sql;
    sql.tables = scanned_tables(tables_, partitions_, pages);
    sql.working_set = table_names(sql.tables);
    sql.fill = server_fill(fill_);
    sql.partitioned_scan = partitions_ > 1 && pages <= ring_threshold(size.pool_pages);
    sql.roles = {server_role(sql.tables, clients)};
    sql.roles.front().pages_per_transaction = static_cast<int>(partitions_ * pages);
    return sql;
  }

 private:
  SqlRole server_role(const std::vector<SqlTable>& tables, int clients) const {
    SqlRole role;
    role.name = "clients";
    role.kind = Role::Kind::kScan;
    role.clients = clients;
    role.scripts = {pgbench_script_for("seqscan-" + query_, table_names(tables))};
    role.variables = {{"rows", std::to_string(tables.front().rows)}};
    // One process a scan, and no compiler in it, on every version and build.
    role.settings = {
        {"enable_indexonlyscan", "off"}, {"max_parallel_workers_per_gather", "0"}, {"jit", "off"}};
    return role;
  }

  std::uint64_t tables_;
  std::uint64_t partitions_;
  std::string query_;
  FillOrder fill_;
};

std::vector<ParameterSpec> seqscan_parameters() {
  using Type = ParameterSpec::Type;
  return {
      {.name = "tables",
       .type = Type::kInteger,
       .default_value = "1",
       .minimum = 1,
       .description = "1: one table that all clients scan; N: client i scans table i modulo N"},
      {.name = "partitions",
       .type = Type::kInteger,
       .default_value = "1",
       .minimum = 1,
       .description =
           "partitions of each table; a ring is used for those over a quarter of the pool"},
      {.name = "query",
       .type = Type::kChoice,
       .default_value = "count",
       .choices = {"count", "offset"},
       .description = "count the tuples or, on a server, deform each of them behind an OFFSET"},
      {.name = "fill",
       .type = Type::kChoice,
       .default_value = "cold",
       .choices = {"cold", "heap_first", "random"},
       .description = "what is in the pool before the clients start"},
  };
}

}  // namespace

WorkloadEntry seqscan_entry() {
  return {"seqscan", seqscan_parameters(),
          [](const Parameters& parameters) -> std::unique_ptr<Workload> {
            return std::make_unique<SeqscanWorkload>(parameters);
          }};
}

}  // namespace numabench
