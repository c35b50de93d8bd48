// Zipfian queries beside scans of index ranges: does the pool keep the hot pages while the scans
// pass?

#include <algorithm>
#include <string>
#include <utility>

#include "workloads/registry.h"
#include "workloads/scripts/scripts.h"
#include "workloads/zipfian.h"

namespace numabench {
namespace {

constexpr std::string_view kScanners = "scanners";

/// The accesses of a client that reads ranges of rows by the index, each from a random row on: down
/// the tree once, then the heap pages in order and, where a leaf ends, its right neighbour. Rows
/// lie in key order, so each heap page is pinned once for all its rows. PostgreSQL uses no ring for
/// index scans, so none of this is Access::kBulkRead.
class RangeScanStream : public AccessStream {
 public:
  /// 1 <= range_rows <= accounts.rows().
  RangeScanStream(const Accounts& accounts, std::uint64_t range_rows, std::uint64_t seed)
      : accounts_(accounts), range_rows_(range_rows), random_(seed) {}

  void next(std::span<Access> out) override {
    for (Access& access : out) access = step();
  }

 private:
  enum class Step { kRoot, kInner, kLeaf, kHeap };

  Access step() {
    switch (step_) {
      case Step::kRoot:
        row_ = random_.next_below(accounts_.rows() - range_rows_ + 1);
        end_ = row_ + range_rows_;
        step_ = Step::kInner;
        return {accounts_.root_page(), 0};
      case Step::kInner:
        step_ = Step::kLeaf;
        return {accounts_.inner_page(row_), 0};
      case Step::kLeaf:
        step_ = Step::kHeap;
        return {accounts_.leaf_page(row_), 0};
      case Step::kHeap:
        break;
    }
    return heap_step();
  }

  Access heap_step() {
    const PageNumber page = accounts_.heap_page(row_);
    const PageNumber leaf = accounts_.leaf_page(row_);
    row_ = (std::uint64_t{page} + 1) * Accounts::kRowsPerHeapPage;
    if (row_ >= end_) {
      step_ = Step::kRoot;
      return {page, Access::kScan | Access::kEndsTransaction};
    }
    step_ = accounts_.leaf_page(row_) == leaf ? Step::kHeap : Step::kLeaf;
    return {page, Access::kScan};
  }

  Accounts accounts_;
  std::uint64_t range_rows_;
  Random random_;
  Step step_ = Step::kRoot;
  std::uint64_t row_ = 0;  ///< the next to read
  std::uint64_t end_ = 0;  ///< of the range
};

class HotscanWorkload : public ZipfianWorkload {
 public:
  explicit HotscanWorkload(const Parameters& parameters)
      : ZipfianWorkload(parameters),
        scanners_(static_cast<int>(parameters.integer("scanners"))),
        range_rows_(parameters.integer("range_rows")),
        scan_rate_(parameters.number("scan_rate")) {}

  std::string_view name() const override { return "hotscan"; }

  std::vector<Role> roles(int clients) const override {
    std::vector<Role> roles = ZipfianWorkload::roles(clients);
    roles.push_back({std::string(kScanners), Role::Kind::kScan, scanners_});
    return roles;
  }

  std::unique_ptr<AccessStream> open_stream(const Role& role, int index, const WorkloadSize& size,
                                            std::uint64_t seed) const override {
    if (role.name != kScanners) return ZipfianWorkload::open_stream(role, index, size, seed);
    const Accounts table = accounts(size);
    return std::make_unique<RangeScanStream>(
        table, std::min(range_rows_, table.rows()),
        derived_seed(seed, role.name, static_cast<std::uint64_t>(index)));
  }

  /// Streams know no time: scanners at a rate exist on a server only.
  bool has_streams() const override { return scan_rate_ == 0; }

  SqlWorkload sql(const WorkloadSize& size, int clients) const override {
    SqlWorkload sql = ZipfianWorkload::sql(size, clients);
    const Accounts table = accounts(size);
    const std::uint64_t rows = table.rows();
    const std::uint64_t range_rows = std::min(range_rows_, rows);
    SqlRole role;
    role.name = kScanners;
    role.kind = Role::Kind::kScan;
    role.clients = scanners_;
    role.scripts = {pgbench_script("range-scan")};
    role.variables = {{"rows", std::to_string(rows)}, {"range_rows", std::to_string(range_rows)}};
    role.settings = {{"enable_seqscan", "off"},
                     {"enable_bitmapscan", "off"},
                     {"max_parallel_workers_per_gather", "0"},
                     {"jit", "off"}};
    role.rate = scan_rate_;
    role.pages_per_transaction = table.server_range_accesses(range_rows);
    sql.roles.push_back(std::move(role));
    return sql;
  }

 private:
  int scanners_;
  std::uint64_t range_rows_;
  double scan_rate_;  ///< scans a second of all scanners; 0: as fast as they can
};

std::vector<ParameterSpec> hotscan_parameters() {
  using Type = ParameterSpec::Type;
  std::vector<ParameterSpec> specs = zipfian_parameters();
  specs.push_back({.name = "scanners",
                   .type = Type::kInteger,
                   .default_value = "2",
                   .minimum = 1,
                   .description = "clients that scan, in addition to the point clients"});
  specs.push_back({.name = "range_rows",
                   .type = Type::kInteger,
                   .default_value = "10000",
                   .minimum = 1,
                   .description = "rows that a scan reads; at most the whole table"});
  specs.push_back({.name = "scan_rate",
                   .type = Type::kNumber,
                   .default_value = "0",
                   .description = "scans a second of all scanners, on a server; 0: unlimited"});
  return specs;
}

}  // namespace

WorkloadEntry hotscan_entry() {
  return {"hotscan", hotscan_parameters(),
          [](const Parameters& parameters) -> std::unique_ptr<Workload> {
            return std::make_unique<HotscanWorkload>(parameters);
          }};
}

}  // namespace numabench
