// Queries by key where every row is as popular as any other: pgbench -S.

#include "workloads/accounts_workload.h"
#include "workloads/registry.h"
#include "workloads/scripts/scripts.h"

namespace numabench {
namespace {

class UniformQueries : public Queries {
 public:
  using Queries::Queries;

  void draw(Random& random, QueryBatch& batch) const override {
    for (std::uint64_t& row : batch.rows) row = random.next_below(accounts().rows());
    batch.flags.fill(0);
  }
};

class UniformWorkload : public AccountsWorkload {
 public:
  using AccountsWorkload::AccountsWorkload;

  std::string_view name() const override { return "uniform"; }

  std::unique_ptr<AccessStream> open_stream(const Role& role, int index, const WorkloadSize& size,
                                            std::uint64_t seed) const override {
    return std::make_unique<QueryStream>(
        std::make_shared<UniformQueries>(accounts(size)),
        derived_seed(seed, role.name, static_cast<std::uint64_t>(index)));
  }

  std::vector<PageNumber> hot_pages(const WorkloadSize&, std::uint64_t) const override {
    return {};
  }

  SqlWorkload sql(const WorkloadSize& size, int clients) const override {
    return accounts_sql(size, clients, pgbench_script("uniform"));
  }
};

}  // namespace

WorkloadEntry uniform_entry() {
  return {"uniform", accounts_parameters(),
          [](const Parameters& parameters) -> std::unique_ptr<Workload> {
            return std::make_unique<UniformWorkload>(parameters);
          }};
}

}  // namespace numabench
