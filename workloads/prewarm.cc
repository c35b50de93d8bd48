// Whole relations into an empty pool, each by one client: what it costs to allocate buffers that
// nobody has used yet.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "workloads/parameters.h"
#include "workloads/registry.h"
#include "workloads/scripts/scripts.h"
#include "workloads/table_scan.h"

namespace numabench {
namespace {

class PrewarmWorkload : public Workload {
 public:
  explicit PrewarmWorkload(const Parameters& parameters)
      : relations_(parameters.integer("relations")) {}

  std::string_view name() const override { return "prewarm"; }

  Dataset dataset(const WorkloadSize& size) const override {
    return shared_dataset(name(), size, relations_,
                          [](std::uint64_t i) { return fmt::format("table_{}", i + 1); });
  }

  std::vector<Role> roles(int clients) const override {
    return {{.name = "clients", .kind = Role::Kind::kScan, .count = clients}};
  }

  /// pg_prewarm uses no ring, however large the relation is, and looks at no tuple. An engine
  /// without an end of the work reads the relation again and again.
  std::unique_ptr<AccessStream> open_stream(const Role&, int index, const WorkloadSize& size,
                                            std::uint64_t) const override {
    const Dataset all = dataset(size);
    const Relation& relation = all.relations()[static_cast<std::uint64_t>(index) % relations_];
    return std::make_unique<TableScanStream>(
        std::vector<Extent>{{relation.first_page, relation.pages, 0}});
  }

  std::vector<PageNumber> fill_pages(const WorkloadSize&, std::uint64_t) const override {
    return {};
  }

  std::vector<PageNumber> hot_pages(const WorkloadSize&, std::uint64_t) const override {
    return {};
  }

  SqlWorkload sql(const WorkloadSize& size, int clients) const override {
    const std::uint64_t pages = equal_pages(dataset(size));
    SqlWorkload sql;
    sql.tables = scanned_tables(relations_, 1, pages);
    sql.working_set = table_names(sql.tables);
    SqlRole role;
    role.name = "clients";
    role.kind = Role::Kind::kScan;
    role.clients = clients;
    role.scripts = {pgbench_script_for("prewarm", sql.working_set)};
    role.transactions = 1;
    role.pages_per_transaction = static_cast<int>(pages);
    sql.roles = {std::move(role)};
    return sql;
  }

 private:
  std::uint64_t relations_;
};

std::vector<ParameterSpec> prewarm_parameters() {
  return {
      {.name = "relations",
       .type = ParameterSpec::Type::kInteger,
       .default_value = "1",
       .minimum = 1,
       .description = "relations of equal size; client i reads relation i modulo their number"}};
}

}  // namespace

WorkloadEntry prewarm_entry() {
  return {"prewarm", prewarm_parameters(),
          [](const Parameters& parameters) -> std::unique_ptr<Workload> {
            return std::make_unique<PrewarmWorkload>(parameters);
          }};
}

}  // namespace numabench
