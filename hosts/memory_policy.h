// The kernel's words for memory policies: what placement and shared regions pass to the NUMA calls.
#pragma once

#include <string>
#include <vector>

#include "hosts/error.h"
#include "hosts/id_set.h"
#include "hosts/placement.h"

namespace numabench {

/// The MPOL_ constant for set_mempolicy(2) and mbind(2).
int kernel_mode(MemoryPolicy policy);

/// A nodemask as these calls want it. Pass `bits()` as maxnode: the kernel ignores the last bit.
class NodeMask {
 public:
  explicit NodeMask(const IdSet& nodes);
  const unsigned long* words() const { return words_.empty() ? nullptr : words_.data(); }
  unsigned long bits() const;

 private:
  std::vector<unsigned long> words_;
};

/// The memory policy of the calling thread, as set_mempolicy(2) takes it and get_mempolicy(2) gives
/// it.
struct ThreadPolicy {
  int mode = 0;  ///< with the MPOL_F_ flags
  IdSet nodes;

  bool operator==(const ThreadPolicy&) const = default;
};

/// That of `placement`, whose memory policy is not kDefault.
ThreadPolicy thread_policy(const Placement& placement);

/// False, with errno set, when the kernel refuses.
bool set_thread_policy(const ThreadPolicy& policy);

/// Throws `kind` when the kernel refuses.
ThreadPolicy get_thread_policy(ErrorKind kind);

/// The kernel's text for a policy in /proc/PID/numa_maps: "bind:0-1", "prefer:0", "prefer
/// (many):0-1", "weighted interleave:0-1", "local", "default".
std::string kernel_policy_text(MemoryPolicy policy, const IdSet& nodes);

/// The same with numa balancing, which kernels before 6.13 write as "bind=:0" and later ones as
/// "bind=balancing:0"; this gives the former.
std::string kernel_policy_text(const Placement& placement);

/// A text of numa_maps in the form of kernel_policy_text().
std::string without_flag_names(std::string policy);

/// Throws `kind` for a NUMA system call that failed with `error_number`; for EPERM it names what a
/// container lacks.
[[noreturn]] void throw_numa_error(ErrorKind kind, const std::string& call, int error_number);

/// The same for the memory policy of `placement`: for EINVAL it names the kernel that has it.
[[noreturn]] void throw_policy_error(ErrorKind kind, const Placement& placement, int error_number);

}  // namespace numabench
