// Queries by key with Zipf-distributed popularity: pgbench -S with random_zipfian.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "workloads/accounts_workload.h"
#include "workloads/permutation.h"
#include "workloads/zipf.h"

namespace numabench {

std::vector<ParameterSpec> zipfian_parameters();

class ZipfianQueries : public Queries {
 public:
  /// Without `permute` the rows are popular in the order of their keys. The hot set is the least
  /// number of the most popular rows whose pages are at least pool / 4 in number, or all rows.
  ZipfianQueries(const Accounts& accounts, double s, bool permute, std::uint64_t pool_pages,
                 std::uint64_t seed);

  void draw(Random& random, QueryBatch& batch) const override;

  const std::vector<PageNumber>& hot_pages() const { return hot_pages_; }

 private:
  /// The row with popularity rank 1 .. rows.
  std::uint64_t row_of(std::uint64_t rank) const {
    return permutation_ ? (*permutation_)(rank - 1) : rank - 1;
  }
  void collect_hot_pages(std::uint64_t limit);

  ZipfSampler sampler_;
  std::optional<Permutation> permutation_;
  std::uint64_t hot_rows_ = 0;
  std::vector<PageNumber> hot_pages_;  ///< the most popular first
};

class ZipfianWorkload : public AccountsWorkload {
 public:
  explicit ZipfianWorkload(const Parameters& parameters);

  std::string_view name() const override { return "zipfian"; }
  std::unique_ptr<AccessStream> open_stream(const Role& role, int index, const WorkloadSize& size,
                                            std::uint64_t seed) const override;
  std::vector<PageNumber> hot_pages(const WorkloadSize& size, std::uint64_t seed) const override;
  /// Throws Error(kUsage) for an exponent that random_zipfian() does not take.
  SqlWorkload sql(const WorkloadSize& size, int clients) const override;

 private:
  struct Cached {
    WorkloadSize size;
    std::uint64_t seed;
    std::shared_ptr<const ZipfianQueries> queries;
  };

  std::shared_ptr<const ZipfianQueries> queries(const WorkloadSize& size, std::uint64_t seed) const;

  double s_;
  bool permute_;
  /// The queries of the run at hand: its clients come one after the other, and building them takes
  /// milliseconds.
  mutable std::mutex mutex_;
  mutable std::optional<Cached> cached_;
};

}  // namespace numabench
