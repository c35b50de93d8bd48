// How fast this host's memory is from each node to each, and what cores pay to hand a cache line to
// one another: measured before anything is believed of a host (Google Benchmark times it).
//
// Start here: `probe_memory()`; then `find_suspicious()`, since near-equal local and remote figures
// mean that memory is interleaved behind the system's back.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "hosts/topology.h"

namespace numabench {

/// A number for each pair of nodes: a row the node whose core measures, a column the node of the
/// memory, or of the other core.
struct ProbeMatrix {
  std::string name;  ///< "load latency", "read bandwidth", "cache-line hand-over" …
  std::string unit;  ///< "ns" or "B/s"
  std::vector<int> rows;
  std::vector<int> columns;
  std::vector<std::vector<double>> values;  ///< [row][column]; NaN: not measured, `notes` says why
  std::vector<std::string> notes;

  bool lower_is_better() const { return unit == "ns"; }
};

/// Additions to one shared counter by a growing number of threads, each on a core of its own first.
struct ContendedCounter {
  std::vector<int> threads;
  std::vector<double> adds_per_second;  ///< of all threads together
};

struct MemoryProbe {
  std::vector<ProbeMatrix> matrices;
  ContendedCounter counter;
  std::size_t region_bytes = 0;  ///< that latency and bandwidth were measured in
};

struct ProbeOptions {
  std::size_t region_bytes =
      0;                 ///< 0: four times the largest cache, from 64 MiB up to a node's 16th
  double seconds = 0.3;  ///< of each measurement, at least
};

/// On this host, from the nodes with CPUs to those with memory. `stage` hears of each pair. The
/// calling thread's CPUs are as before when it returns. Throws Error(kPreflight) when memory cannot
/// be put on a node.
MemoryProbe probe_memory(const Topology& topology, const ProbeOptions& options,
                         const std::function<void(const std::string&)>& stage);

/// A warning for a matrix whose remote figures are as good as its local ones; empty on one node.
std::vector<std::string> find_suspicious(const ProbeMatrix& matrix);

/// The matrix as a table, rows "from node 0", columns "node 0"; bandwidths in GiB/s.
std::string format_matrix(const ProbeMatrix& matrix);
std::string format_counter(const ContendedCounter& counter);

}  // namespace numabench
