#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <set>

#include "hosts/error.h"
#include "hosts/placement.h"
#include "hosts/probes/pointer_chase.h"
#include "hosts/probes/probe.h"
#include "hosts/probes/stopwatch.h"
#include "hosts/shared_region.h"
#include "hosts/units.h"

namespace numabench {
namespace {

using Stage = std::function<void(const std::string&)>;

/// The calling thread's CPUs, put back at the end.
class AffinityGuard {
 public:
  AffinityGuard() { ::sched_getaffinity(0, sizeof before_, &before_); }
  ~AffinityGuard() { ::sched_setaffinity(0, sizeof before_, &before_); }
  AffinityGuard(const AffinityGuard&) = delete;
  AffinityGuard& operator=(const AffinityGuard&) = delete;

 private:
  cpu_set_t before_{};
};

/// The calling thread runs on `cpus` only. Its memory policy is not touched: where memory lies is
/// bound region by region.
void run_on(IdSet cpus) {
  Placement placement;
  placement.cpus = std::move(cpus);
  apply(placement);
}

/// Allowed CPUs, the first of each core before the second of any.
std::vector<int> cpus_core_by_core(const Topology& topology, const IdSet& among) {
  std::map<int, int> seen_of_core;
  std::vector<std::pair<int, int>> ranked;  // how many of its core came before it, id
  for (const Cpu& cpu : topology.cpus()) {
    if (among.contains(cpu.id)) ranked.emplace_back(seen_of_core[cpu.core]++, cpu.id);
  }
  std::ranges::sort(ranked);
  std::vector<int> cpus;
  for (const auto& [rank, id] : ranked) cpus.push_back(id);
  return cpus;
}

/// Memory on one node: huge pages where that node has enough of them.
struct NodeMemory {
  SharedRegion region;
  std::string note;
};

NodeMemory memory_on(int node, std::size_t bytes) {
  for (const auto huge_pages : {SharedRegion::HugePages::kTry, SharedRegion::HugePages::kOff}) {
    try {
      SharedRegion region(bytes, huge_pages);
      region.set_policy(0, bytes, MemoryPolicy::kBind, {node});
      region.prefault();
      std::string note = fmt::format("node {}: pages of {}", node,
                                     format_bytes(static_cast<double>(region.page_bytes())));
      return {std::move(region), std::move(note)};
    } catch (const Error& error) {
      // Too few huge pages on this node: small ones will do.
      const bool may_retry =
          huge_pages == SharedRegion::HugePages::kTry && error.kind() == ErrorKind::kPreflight;
      if (!may_retry) throw;
    }
  }
  throw Error(ErrorKind::kInternal, "no memory for a probe");
}

double load_latency_ns(int cpu, const SharedRegion& region, double seconds) {
  constexpr int kLoads = 1024;
  void** place = nullptr;
  const double per_step = seconds_per_step({1,
                                            [&](int) {
                                              run_on({cpu});
                                              place = reinterpret_cast<void**>(region.data());
                                            },
                                            [&](int) {
                                              void** at = place;
                                              for (int i = 0; i < kLoads; ++i)
                                                at = static_cast<void**>(*at);
                                              place = at;  // kept, so that no load can be left out
                                            }},
                                           seconds);
  if (place == nullptr) throw Error(ErrorKind::kInternal, "a chase ended");
  return per_step / kLoads * 1e9;
}

enum class Transfer { kRead, kWrite, kCopy };

std::uint64_t sum_of(const std::byte* data, std::size_t bytes) {
  constexpr std::size_t kLanes = 8;
  std::uint64_t sums[kLanes] = {};
  const auto* words = reinterpret_cast<const std::uint64_t*>(data);
  for (std::size_t i = 0; i + kLanes <= bytes / sizeof *words; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += words[i + lane];
  }
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total += sum;
  return total;
}

/// By all CPUs of a node, each its own part of the region. A copy counts what is read and what is
/// written.
double bandwidth_bytes_per_second(const std::vector<int>& cpus, const SharedRegion& region,
                                  Transfer transfer, double seconds) {
  const std::size_t part = region.size() / cpus.size() / 4096 * 4096;
  std::atomic<std::uint64_t> kept{0};
  const double per_step =
      seconds_per_step({static_cast<int>(cpus.size()),
                        [&](int thread) { run_on({cpus[static_cast<std::size_t>(thread)]}); },
                        [&](int thread) {
                          std::byte* data = region.data() + part * static_cast<std::size_t>(thread);
                          if (transfer == Transfer::kRead) kept.fetch_add(sum_of(data, part));
                          if (transfer == Transfer::kWrite)
                            std::memset(data, static_cast<int>(part), part);
                          if (transfer == Transfer::kCopy)
                            std::memcpy(data, data + part / 2, part / 2);
                        }},
                       seconds);
  return static_cast<double>(part) / per_step;
}

/// A cache line of its own, and the next one, which prefetchers bring along.
struct alignas(2 * kCacheLineBytes) SharedLine {
  std::atomic<std::uint64_t> value{0};
};

double contended_add_seconds(const std::vector<int>& cpus, double seconds) {
  constexpr int kAdds = 64;
  SharedLine line;
  return seconds_per_step({static_cast<int>(cpus.size()),
                           [&](int thread) { run_on({cpus[static_cast<std::size_t>(thread)]}); },
                           [&](int) {
                             for (int i = 0; i < kAdds; ++i) line.value.fetch_add(1);
                           }},
                          seconds) /
         kAdds;
}

/// Two cores take turns in writing one line: half of a round trip.
double hand_over_ns(int first, int second, double seconds) {
  constexpr int kTurns = 16;
  constexpr int kSpinsBeforeYield = 4096;  // the other may not be running, on a busy host
  SharedLine line;
  const auto take_turns = [&](int thread) {
    for (int turn = 0; turn < kTurns; ++turn) {
      int spins = 0;
      while (line.value.load(std::memory_order_acquire) % 2 != static_cast<std::uint64_t>(thread)) {
        if (++spins % kSpinsBeforeYield == 0) ::sched_yield();
      }
      line.value.fetch_add(1, std::memory_order_release);
    }
  };
  const double per_step = seconds_per_step(
      {2, [&](int thread) { run_on({thread == 0 ? first : second}); }, take_turns}, seconds);
  return per_step / kTurns * 1e9;
}

class MemoryProber {
 public:
  MemoryProber(const Topology& topology, const ProbeOptions& options, const Stage& stage)
      : topology_(topology), seconds_(options.seconds), stage_(stage) {
    for (const int node : topology.nodes_with_cpus()) {
      cpus_[node] = cpus_core_by_core(topology, topology.cpus_of_node(node));
    }
    region_bytes_ = options.region_bytes > 0 ? options.region_bytes : usual_region_bytes();
  }

  MemoryProbe run() {
    MemoryProbe probe;
    probe.region_bytes = region_bytes_;
    measure_memory(probe);
    measure_cores(probe);
    measure_counter(probe.counter);
    return probe;
  }

 private:
  std::size_t usual_region_bytes() const {
    constexpr std::uint64_t kLeast = 64 << 20;
    constexpr std::uint64_t kShareOfNode = 16;
    std::uint64_t largest_cache = 0;
    for (const Cache& cache : topology_.caches()) {
      largest_cache = std::max(largest_cache, cache.bytes);
    }
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    for (const Node& node : topology_.nodes()) {
      if (node.memory_bytes > 0) most = std::min(most, node.memory_bytes / kShareOfNode);
    }
    return std::max(kLeast, std::min(most, 4 * largest_cache));
  }

  ProbeMatrix empty_matrix(const char* name, const char* unit,
                           const std::vector<int>& columns) const {
    ProbeMatrix matrix{name, unit, {}, columns, {}, {}};
    for (const auto& [node, cpus] : cpus_) matrix.rows.push_back(node);
    matrix.values.assign(matrix.rows.size(), std::vector<double>(columns.size(), std::nan("")));
    return matrix;
  }

  void measure_memory(MemoryProbe& probe) {
    const IdSet nodes = topology_.allowed_nodes();
    const std::vector<int> columns(nodes.begin(), nodes.end());
    ProbeMatrix latency = empty_matrix("load latency", "ns", columns);
    std::vector<ProbeMatrix> bandwidths{empty_matrix("read bandwidth", "B/s", columns),
                                        empty_matrix("write bandwidth", "B/s", columns),
                                        empty_matrix("copy bandwidth", "B/s", columns)};
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const NodeMemory memory = memory_on(columns[column], region_bytes_);
      latency.notes.push_back(memory.note);
      for (std::size_t row = 0; row < latency.rows.size(); ++row) {
        const std::vector<int>& cpus = cpus_.at(latency.rows[row]);
        stage_(fmt::format("memory of node {} from node {}", columns[column], latency.rows[row]));
        make_chase(memory.region.data(), memory.region.size(), kSeed);
        latency.values[row][column] = load_latency_ns(cpus.front(), memory.region, seconds_);
        for (std::size_t kind = 0; kind < bandwidths.size(); ++kind) {
          bandwidths[kind].values[row][column] = bandwidth_bytes_per_second(
              cpus, memory.region, static_cast<Transfer>(kind), seconds_);
        }
      }
    }
    probe.matrices.push_back(std::move(latency));
    std::ranges::move(bandwidths, std::back_inserter(probe.matrices));
  }

  /// The first core of each node, and on the same node the second.
  void measure_cores(MemoryProbe& probe) {
    std::vector<int> nodes;
    for (const auto& [node, cpus] : cpus_) nodes.push_back(node);
    ProbeMatrix add = empty_matrix("contended fetch-add of two cores", "ns", nodes);
    ProbeMatrix hand_over = empty_matrix("cache-line hand-over", "ns", nodes);
    for (std::size_t row = 0; row < nodes.size(); ++row) {
      for (std::size_t column = 0; column < nodes.size(); ++column) {
        const std::vector<int>& others = cpus_.at(nodes[column]);
        if (row == column && others.size() < 2) {
          hand_over.notes.push_back(fmt::format("node {} has one CPU only", nodes[row]));
          continue;
        }
        const int first = cpus_.at(nodes[row]).front();
        const int second = row == column ? others[1] : others[0];
        stage_(fmt::format("CPUs {} and {}", first, second));
        add.values[row][column] = contended_add_seconds({first, second}, seconds_) * 1e9;
        hand_over.values[row][column] = hand_over_ns(first, second, seconds_);
      }
    }
    probe.matrices.push_back(std::move(add));
    probe.matrices.push_back(std::move(hand_over));
  }

  void measure_counter(ContendedCounter& counter) {
    const std::vector<int> cpus = cpus_core_by_core(topology_, topology_.allowed_cpus());
    for (std::size_t threads = 1; threads <= cpus.size();
         threads = threads < cpus.size() ? std::min(2 * threads, cpus.size()) : threads + 1) {
      stage_(fmt::format("{} threads on one counter", threads));
      const std::vector<int> first(cpus.begin(),
                                   cpus.begin() + static_cast<std::ptrdiff_t>(threads));
      counter.threads.push_back(static_cast<int>(threads));
      counter.adds_per_second.push_back(1 / contended_add_seconds(first, seconds_));
    }
  }

  static constexpr std::uint64_t kSeed = 1;
  const Topology& topology_;
  double seconds_;
  const Stage& stage_;
  std::map<int, std::vector<int>> cpus_;  ///< by node, core by core
  std::size_t region_bytes_ = 0;
};

}  // namespace

MemoryProbe probe_memory(const Topology& topology, const ProbeOptions& options,
                         const std::function<void(const std::string&)>& stage) {
  const AffinityGuard guard;
  return MemoryProber(topology, options, stage).run();
}

}  // namespace numabench
