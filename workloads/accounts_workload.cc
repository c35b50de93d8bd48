#include "workloads/accounts_workload.h"

#include <algorithm>

#include "workloads/fill.h"

namespace numabench {

std::vector<ParameterSpec> accounts_parameters() {
  using Type = ParameterSpec::Type;
  return {
      {.name = "fill",
       .type = Type::kChoice,
       .default_value = "index_first",
       .choices = fill_order_names(),
       .description = "what is in the pool before the clients start"},
      {.name = "ratio_of",
       .type = Type::kChoice,
       .default_value = "working_set",
       .choices = {"working_set", "heap"},
       .description = "what ratio x pool is the size of: all pages touched, or the heap alone"},
  };
}

AccountsWorkload::AccountsWorkload(const Parameters& parameters)
    : fill_(fill_order(parameters.choice("fill"))),
      ratio_of_(parameters.choice("ratio_of") == "heap" ? RatioOf::kHeap : RatioOf::kWorkingSet) {}

Dataset AccountsWorkload::dataset(const WorkloadSize& size) const {
  return accounts(size).dataset();
}

std::vector<Role> AccountsWorkload::roles(int clients) const {
  return {{.name = "clients", .kind = Role::Kind::kPoint, .count = clients}};
}

std::vector<PageNumber> AccountsWorkload::fill_pages(const WorkloadSize& size,
                                                     std::uint64_t seed) const {
  return numabench::fill_pages(dataset(size), fill_, size.pool_pages, derived_seed(seed, "fill"));
}

SqlWorkload AccountsWorkload::accounts_sql(const WorkloadSize& size, int clients,
                                           SqlScript script) const {
  const Accounts table = accounts(size);
  SqlWorkload sql;
  sql.tables = {{.name = "pgbench_accounts", .rows = table.rows()}};
  sql.working_set = {"pgbench_accounts"};
  sql.fill = server_fill(fill_);
  SqlRole role;
  role.name = "clients";
  role.clients = clients;
  role.scripts = {std::move(script)};
  role.variables = {{"rows", std::to_string(table.rows())}};
  role.pages_per_transaction = table.server_accesses();
  sql.roles = {std::move(role)};
  return sql;
}

void QueryStream::next(std::span<Access> out) {
  out = out.subspan(take_rest(out));
  while (out.size() >= Accounts::kQueryAccesses) {
    write_query(out.data());
    out = out.subspan(Accounts::kQueryAccesses);
  }
  if (!out.empty()) {
    write_query(rest_.data());
    taken_ = 0;
    take_rest(out);
  }
}

void QueryStream::write_query(Access* out) {
  if (written_ == QueryBatch::kSize) {
    queries_->draw(random_, batch_);
    written_ = 0;
  }
  queries_->accounts().query(batch_.rows[written_], batch_.flags[written_], out);
  written_++;
}

/// Hands out accesses of the query that the last call began; returns how many.
std::size_t QueryStream::take_rest(std::span<Access> out) {
  const std::size_t count = std::min(out.size(), rest_.size() - taken_);
  std::copy_n(rest_.begin() + static_cast<std::ptrdiff_t>(taken_), count, out.begin());
  taken_ += count;
  return count;
}

}  // namespace numabench
