// Who asks for which pages, in what order. The one interface of every workload.
//
// Start here: a Workload describes its data (`dataset`), its roles (`roles`) and gives each client
// of a role an endless, deterministic stream of page accesses (`open_stream`). It knows nothing of
// the engine that serves the pages. Adding one: a .cc and a line in registry.cc (CONTRIBUTING.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/dataset.h"

namespace numabench {

/// One page access of a client.
struct Access {
  PageNumber page = 0;
  std::uint8_t flags = 0;

  enum Flag : std::uint8_t {
    kEndsTransaction = 1,  ///< the transaction (or the scan) is complete after this access
    kBulkRead = 2,         ///< sequential scan of a relation larger than pool / 4: may use a ring
    kScan = 4,             ///< every tuple of the page is deformed, not one
    kHot = 8,              ///< made for a row of the hot set (see Workload::hot_pages)
  };
};

/// The endless accesses of one client.
class AccessStream {
 public:
  virtual ~AccessStream() = default;
  /// Overwrites all of `out` with the next accesses. Transactions may span calls.
  virtual void next(std::span<Access> out) = 0;
};

/// A named parameter of a workload, as configs spell it.
struct ParameterSpec {
  enum class Type { kNumber, kInteger, kBoolean, kChoice, kText };
  std::string name;
  Type type = Type::kNumber;
  std::string default_value;              ///< text, as it would be written
  double minimum = 0;                     ///< for numbers: inclusive, unless `above_minimum`
  bool above_minimum = false;             ///< the value must be greater than `minimum`
  std::vector<std::string> choices = {};  ///< for kChoice
  std::string description = {};
  bool is_path = false;  ///< for kText: names files as script_list.h says; relative to the config
};

/// Values by parameter name, as written; absent ones have their default.
using ParameterValues = std::map<std::string, std::string>;

/// What is in the pool before the clients start (POOL_MODEL: it sets the tails).
enum class FillOrder {
  kCold,           ///< nothing
  kIndexFirst,     ///< the whole index by one client, then the workload
  kIndexThenHeap,  ///< index, then heap in sequence, until the pool is full
  kHeapThenIndex,  ///< heap in sequence, then the index, by one client
  kHeapFirst,      ///< heap in sequence until the pool is full, then the workload
  kRandom,         ///< all pages in a seeded random order until the pool is full
};

/// What the sizes of a cell ask for.
struct WorkloadSize {
  std::uint64_t pool_pages = 0;
  double ratio = 1;  ///< working set ÷ pool (see the parameter `ratio_of` of the point workloads)
  std::uint64_t held_pages = 0;  ///< of a working set that does not depend on the pool; else 0

  bool operator==(const WorkloadSize&) const = default;

  /// What is held, or ratio × pool to the nearest page; at least one, and no more than a double
  /// counts exactly.
  std::uint64_t working_set_pages() const {
    if (held_pages > 0) return held_pages;
    const double pages = std::round(ratio * static_cast<double>(pool_pages));
    return static_cast<std::uint64_t>(std::clamp(pages, 1.0, 0x1p53));
  }
};

/// A kind of client of a workload.
struct Role {
  enum class Kind { kPoint, kScan };
  std::string name;  ///< "clients" or "scanners": also the name of its placement
  Kind kind = Kind::kPoint;
  int count = 0;
};

struct SqlWorkload;

class Workload {
 public:
  virtual ~Workload() = default;
  virtual std::string_view name() const = 0;
  /// The data that a cell of this size needs.
  virtual Dataset dataset(const WorkloadSize& size) const = 0;
  /// At least one role, `clients` clients of the main role.
  virtual std::vector<Role> roles(int clients) const = 0;
  /// The stream of client `index` (0-based) of `role`; equal arguments give equal streams.
  virtual std::unique_ptr<AccessStream> open_stream(const Role& role, int index,
                                                    const WorkloadSize& size,
                                                    std::uint64_t seed) const = 0;
  /// The pages to load before the run, in order, at most `size.pool_pages` for the orders that stop
  /// at a full pool.
  virtual std::vector<PageNumber> fill_pages(const WorkloadSize& size,
                                             std::uint64_t seed) const = 0;
  /// The pages touched on behalf of the hot rows: the most popular rows whose pages together fill a
  /// quarter of the pool. Their accesses carry Access::kHot. Empty when no row is hotter than
  /// another.
  virtual std::vector<PageNumber> hot_pages(const WorkloadSize& size, std::uint64_t seed) const = 0;

  /// The same as tables and pgbench scripts (sql_workload.h). Throws Error(kUsage) for parameters
  /// that pgbench cannot take, and for a workload that has no such form.
  virtual SqlWorkload sql(const WorkloadSize& size, int clients) const;
  /// False for a workload, or parameters of it, that exist as SQL only: page accesses cannot say
  /// it.
  virtual bool has_streams() const { return true; }
  /// Of what is outside the parameters: the contents of the user's script files. Part of a cell's
  /// hash; empty when there is nothing.
  virtual std::string fingerprint() const { return ""; }
};

/// The parameters that `name` takes. Throws Error(kUsage) for an unknown workload, with a
/// suggestion.
std::vector<ParameterSpec> workload_parameters(const std::string& name);
/// Throws Error(kUsage) for an unknown workload or parameter, or a value out of its range.
std::unique_ptr<Workload> make_workload(const std::string& name, const ParameterValues& values);
std::vector<std::string> workload_names();

}  // namespace numabench
