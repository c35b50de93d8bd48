// Where a process may run and where its memory comes from: the semantics of numactl(8).
//
// Start here: resolve what a config says against the topology (`resolve_cpus()` and its like),
// `check()` a Placement at plan time, `apply()` it in the child between fork and exec (or the
// child's work), `observe()` the process from outside and compare with `mismatch()`. Nothing is
// believed because it was requested.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hosts/id_set.h"
#include "hosts/topology.h"

namespace numabench {

enum class MemoryPolicy {
  kDefault,             ///< inherit; first touch on the node of the toucher
  kBind,                ///< numactl --membind
  kPreferred,           ///< numactl --preferred
  kPreferredMany,       ///< numactl --preferred-many (Linux 5.15)
  kInterleave,          ///< numactl --interleave
  kWeightedInterleave,  ///< numactl --weighted-interleave (Linux 6.9)
  kLocal,               ///< numactl --localalloc
};

/// What a role's processes get. Absent parts are inherited.
struct Placement {
  IdSet cpus;  ///< allowed CPUs; empty: inherited
  MemoryPolicy memory = MemoryPolicy::kDefault;
  IdSet memory_nodes;      ///< for bind, preferred (one id), preferred-many and both interleaves
  bool balancing = false;  ///< numactl --balancing: the kernel may move pages between bound nodes
  bool touch = false;      ///< numactl --touch: its memory is touched, and so placed, at the start

  bool is_free() const { return cpus.empty() && memory == MemoryPolicy::kDefault && !touch; }
  bool operator==(const Placement&) const = default;
};

/// "cpus 0-3, bind 0" or "free": what `plan` prints, and `expected` of a placement proof.
std::string describe(const Placement& placement);

/// numactl --physcpubind, --cpunodebind and --membind (--preferred, --interleave): the ids that an
/// expression means on a topology. `all` and `+` count those that this process may use; for memory
/// the allowed nodes that have some, for cpunodebind the nodes with allowed CPUs. Throw
/// Error(kPreflight) naming the offending id and the allowed set. A hole in the ids gets the same
/// error as a number past the end, and so does an id after `!`.
IdSet resolve_cpus(const IdExpression& expression, const Topology& topology);
IdSet resolve_cpu_nodes(const IdExpression& expression, const Topology& topology);
IdSet resolve_memory_nodes(const IdExpression& expression, const Topology& topology);

/// numactl --cpunodebind: the allowed CPUs of `nodes`. Throws Error(kPreflight) naming the node
/// that has none and the nodes that have some.
IdSet cpus_of_nodes(const IdSet& nodes, const Topology& topology);

/// Throws Error(kPreflight) naming the offending id and the allowed set when a CPU or node is not
/// there, not allowed, offline, has no CPUs or has no memory. On this host the calls themselves are
/// tried and taken back: a kernel without the policy or a container that forbids it is found out.
void check(const Placement& placement, const Topology& topology);
/// Why nothing may be placed by nodes here: a firmware that contradicts itself. Empty where nodes
/// can be trusted.
std::string refusal_of_nodes(const Topology& topology);

/// What a placement that check() accepts does beyond what it says: "node 1 has no memory: that of
/// CPUs 4-7 comes from node 0, the nearest".
std::vector<std::string> placement_notes(const Placement& placement, const Topology& topology);

/// Applies to the calling process (all later children inherit) and reads back what the kernel made
/// of it. Async-signal-safety is not needed: the child of a single-threaded parent calls it. Throws
/// Error(kRun) naming the failed call, or what is in force instead.
void apply(const Placement& placement);

/// Moves all threads of a running process, for processes that somebody else forks. Throws
/// Error(kRun).
void move_to_cpus(pid_t pid, const IdSet& cpus);

/// What the kernel says of a running process.
struct ObservedPlacement {
  IdSet cpus;          ///< sched_getaffinity of its main thread
  IdSet memory_nodes;  ///< Mems_allowed_list of /proc/PID/status
  /// Its policy, by the first mapping in /proc/PID/numa_maps ("default", "bind:0"), which has none
  /// of its own; empty when the kernel has no numa_maps or does not show it.
  std::string policy;
  IdSet stray_cpus = {};  ///< of the first thread that has other CPUs than the main one; else empty
};

/// nullopt when the process is gone. Cheap: the mappings' pages are not walked.
std::optional<ObservedPlacement> observe(pid_t pid);

std::string describe(const ObservedPlacement& observed);

/// Empty when `observed` is what `placement` asked for, else the difference in one phrase.
std::string mismatch(const Placement& placement, const ObservedPlacement& observed);

}  // namespace numabench
