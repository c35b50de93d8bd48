// What the workloads on pgbench_accounts have in common.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "workloads/accounts.h"
#include "workloads/parameters.h"
#include "workloads/random.h"
#include "workloads/sql_workload.h"
#include "workloads/workload.h"

namespace numabench {

/// The parameters `fill` and `ratio_of`.
std::vector<ParameterSpec> accounts_parameters();

class AccountsWorkload : public Workload {
 public:
  explicit AccountsWorkload(const Parameters& parameters);

  Dataset dataset(const WorkloadSize& size) const override;
  std::vector<Role> roles(int clients) const override;
  std::vector<PageNumber> fill_pages(const WorkloadSize& size, std::uint64_t seed) const override;

 protected:
  Accounts accounts(const WorkloadSize& size) const { return Accounts::of_size(size, ratio_of_); }

  /// The table, its fill, and `clients` clients of `script`, whose variable `rows` is set. Throws
  /// Error(kUsage) for a fill that a server cannot have.
  SqlWorkload accounts_sql(const WorkloadSize& size, int clients, SqlScript script) const;

 private:
  FillOrder fill_;
  RatioOf ratio_of_;
};

/// Rows to be asked for, one after the other, and the flags of their accesses.
struct QueryBatch {
  static constexpr std::size_t kSize = 64;
  std::array<std::uint64_t, kSize> rows;
  std::array<std::uint8_t, kSize> flags;
};

/// The queries of all clients of a run; immutable and shared by their streams.
class Queries {
 public:
  explicit Queries(const Accounts& accounts) : accounts_(accounts) {}
  virtual ~Queries() = default;

  const Accounts& accounts() const { return accounts_; }
  /// Overwrites all of `batch` with the next queries of the client that owns `random`.
  virtual void draw(Random& random, QueryBatch& batch) const = 0;

 private:
  Accounts accounts_;
};

/// The stream of a client whose transactions are single queries by key.
class QueryStream : public AccessStream {
 public:
  QueryStream(std::shared_ptr<const Queries> queries, std::uint64_t seed)
      : queries_(std::move(queries)), random_(seed) {}

  void next(std::span<Access> out) override;

 private:
  void write_query(Access* out);
  std::size_t take_rest(std::span<Access> out);

  std::shared_ptr<const Queries> queries_;
  Random random_;
  QueryBatch batch_;
  std::size_t written_ = QueryBatch::kSize;  ///< of the batch
  std::array<Access, Accounts::kQueryAccesses> rest_;
  std::size_t taken_ = Accounts::kQueryAccesses;  ///< of the rest
};

}  // namespace numabench
