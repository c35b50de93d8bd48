#include "workloads/zipfian.h"

#include <fmt/format.h>

#include "hosts/error.h"
#include "hosts/units.h"
#include "workloads/registry.h"
#include "workloads/scripts/scripts.h"

namespace numabench {
namespace {

// MIN_ZIPFIAN_PARAM and MAX_ZIPFIAN_PARAM of pgbench 11 and later.
constexpr double kPgbenchLeastExponent = 1.001;
constexpr double kPgbenchGreatestExponent = 1000;

}  // namespace

ZipfianQueries::ZipfianQueries(const Accounts& accounts, double s, bool permute,
                               std::uint64_t pool_pages, std::uint64_t seed)
    : Queries(accounts), sampler_(accounts.rows(), s) {
  if (permute) permutation_.emplace(accounts.rows(), derived_seed(seed, "permutation"));
  collect_hot_pages(pool_pages / 4);
}

void ZipfianQueries::draw(Random& random, QueryBatch& batch) const {
  sampler_.sample(random, batch.rows);
  for (std::size_t i = 0; i < QueryBatch::kSize; i++) {
    batch.flags[i] = batch.rows[i] <= hot_rows_ ? Access::kHot : 0;
    batch.rows[i] = row_of(batch.rows[i]);
  }
}

void ZipfianQueries::collect_hot_pages(std::uint64_t limit) {
  const std::uint64_t pages = accounts().dataset().pages();
  std::vector<bool> collected(pages);
  std::array<Access, Accounts::kQueryAccesses> accesses;
  // Once every page is hot, the remaining rows add none.
  while (hot_pages_.size() < std::min(limit, pages)) {
    hot_rows_++;
    accounts().query(row_of(hot_rows_), 0, accesses.data());
    for (const Access& access : accesses) {
      if (!collected[access.page]) hot_pages_.push_back(access.page);
      collected[access.page] = true;
    }
  }
  if (limit >= pages) hot_rows_ = accounts().rows();
}

std::vector<ParameterSpec> zipfian_parameters() {
  using Type = ParameterSpec::Type;
  std::vector<ParameterSpec> specs = {
      {.name = "s",
       .type = Type::kNumber,
       .default_value = "1.1",
       .above_minimum = true,
       .description = "the exponent: the row of rank k is asked for in proportion to k^-s"},
      {.name = "permute",
       .type = Type::kBoolean,
       .default_value = "true",
       .description = "scatter the popular rows over the table, as pgbench's permute() does"},
  };
  for (ParameterSpec& spec : accounts_parameters()) specs.push_back(std::move(spec));
  return specs;
}

ZipfianWorkload::ZipfianWorkload(const Parameters& parameters)
    : AccountsWorkload(parameters),
      s_(parameters.number("s")),
      permute_(parameters.boolean("permute")) {}

std::shared_ptr<const ZipfianQueries> ZipfianWorkload::queries(const WorkloadSize& size,
                                                               std::uint64_t seed) const {
  const std::lock_guard lock(mutex_);
  if (!cached_ || cached_->size != size || cached_->seed != seed) {
    cached_ = {
        size, seed,
        std::make_shared<ZipfianQueries>(accounts(size), s_, permute_, size.pool_pages, seed)};
  }
  return cached_->queries;
}

std::unique_ptr<AccessStream> ZipfianWorkload::open_stream(const Role& role, int index,
                                                           const WorkloadSize& size,
                                                           std::uint64_t seed) const {
  return std::make_unique<QueryStream>(
      queries(size, seed), derived_seed(seed, role.name, static_cast<std::uint64_t>(index)));
}

std::vector<PageNumber> ZipfianWorkload::hot_pages(const WorkloadSize& size,
                                                   std::uint64_t seed) const {
  return queries(size, seed)->hot_pages();
}

SqlWorkload ZipfianWorkload::sql(const WorkloadSize& size, int clients) const {
  if (s_ < kPgbenchLeastExponent || s_ > kPgbenchGreatestExponent) {
    throw Error(ErrorKind::kUsage,
                fmt::format("pgbench's random_zipfian() does not take 's' = {}: only {} to {}",
                            format_exact(s_), kPgbenchLeastExponent, kPgbenchGreatestExponent),
                "choose 's' in that range, or the embedded engine, which takes any above 0");
  }
  SqlWorkload sql =
      accounts_sql(size, clients, pgbench_script(permute_ ? "zipfian-permuted" : "zipfian"));
  auto& variables = sql.roles.front().variables;
  variables["s"] = format_exact(s_);
  if (permute_) variables["default_seed"] = kDefaultSeed;
  return sql;
}

WorkloadEntry zipfian_entry() {
  return {"zipfian", zipfian_parameters(),
          [](const Parameters& parameters) -> std::unique_ptr<Workload> {
            return std::make_unique<ZipfianWorkload>(parameters);
          }};
}

}  // namespace numabench
