#include "hosts/memory_policy.h"

#include <fmt/format.h>
#include <numaif.h>
#include <sys/utsname.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "hosts/files.h"

namespace numabench {
namespace {

constexpr std::size_t kWordBits = 8 * sizeof(unsigned long);

// Of <linux/mempolicy.h>; Debian 12's numaif.h ends before the last.
constexpr int kPreferredMany = 5;
constexpr int kWeightedInterleave = 6;
constexpr int kBalancingFlag = 1 << 13;  // MPOL_F_NUMA_BALANCING

// Nobody needs a capability for these calls; containers let them through with this one.
bool has_sys_nice() {
  constexpr int kSysNice = 23;  // of <linux/capability.h>
  const std::string status = read_text_file("/proc/self/status").value_or("");
  const std::string text = labelled_value(status, "CapEff").value_or("");
  std::uint64_t capabilities = 0;
  std::from_chars(text.data(), text.data() + text.size(), capabilities, 16);
  return ((capabilities >> kSysNice) & 1) != 0;
}

std::string remedy_for_forbidden_calls() {
  const std::string status = read_text_file("/proc/self/status").value_or("");
  const bool filtered = labelled_value(status, "Seccomp").value_or("0") != "0";
  return fmt::format(
      "{}{}: start the container with --cap-add SYS_NICE, or with a seccomp profile that allows "
      "set_mempolicy, get_mempolicy, mbind and move_pages",
      filtered ? "a seccomp filter forbids NUMA policies" : "the sandbox forbids NUMA policies",
      has_sys_nice() ? " although CAP_SYS_NICE is there"
                     : ", and the capability CAP_SYS_NICE is missing");
}

std::string remedy_for(int error_number) {
  switch (error_number) {
    case EPERM:
      return remedy_for_forbidden_calls();
    case ENOSYS:
      return "this kernel has no NUMA support (CONFIG_NUMA): use a free placement";
    case EINVAL:
      return "a node is absent, without memory or outside the cpuset: see `numabench topology`";
    default:
      return "";
  }
}

// The first kernel that has the policy; empty for those that all have.
std::string first_kernel(const Placement& placement) {
  if (placement.memory == MemoryPolicy::kWeightedInterleave) return "6.9";
  if (placement.memory == MemoryPolicy::kPreferredMany) return "5.15";
  if (placement.balancing) return "5.12 with CONFIG_NUMA_BALANCING";
  return "";
}

std::string kernel_release() {
  utsname name{};
  return ::uname(&name) == 0 ? name.release : "unknown";
}

}  // namespace

int kernel_mode(MemoryPolicy policy) {
  switch (policy) {
    case MemoryPolicy::kBind:
      return MPOL_BIND;
    case MemoryPolicy::kPreferred:
      return MPOL_PREFERRED;
    case MemoryPolicy::kPreferredMany:
      return kPreferredMany;
    case MemoryPolicy::kInterleave:
      return MPOL_INTERLEAVE;
    case MemoryPolicy::kWeightedInterleave:
      return kWeightedInterleave;
    case MemoryPolicy::kLocal:
      return MPOL_LOCAL;
    case MemoryPolicy::kDefault:
      break;
  }
  return MPOL_DEFAULT;
}

NodeMask::NodeMask(const IdSet& nodes) {
  if (nodes.empty()) return;
  words_.resize(static_cast<std::size_t>(*nodes.rbegin()) / kWordBits + 1);
  for (const int node : nodes) {
    const auto bit = static_cast<std::size_t>(node);
    words_[bit / kWordBits] |= 1ul << (bit % kWordBits);
  }
}

unsigned long NodeMask::bits() const { return words_.empty() ? 0 : words_.size() * kWordBits + 1; }

ThreadPolicy thread_policy(const Placement& placement) {
  const int flags = placement.balancing ? kBalancingFlag : 0;
  return {kernel_mode(placement.memory) | flags, placement.memory_nodes};
}

bool set_thread_policy(const ThreadPolicy& policy) {
  const NodeMask mask(policy.nodes);
  return ::set_mempolicy(policy.mode, mask.words(), mask.bits()) == 0;
}

ThreadPolicy get_thread_policy(ErrorKind kind) {
  // At least as many bits as the kernel has nodes, at most 1024.
  std::array<unsigned long, 16> words{};
  ThreadPolicy policy;
  if (::get_mempolicy(&policy.mode, words.data(), 8 * sizeof(words), nullptr, 0) != 0) {
    throw_numa_error(kind, "get_mempolicy", errno);
  }
  for (std::size_t bit = 0; bit < words.size() * kWordBits; ++bit) {
    if ((words[bit / kWordBits] >> (bit % kWordBits)) & 1) {
      policy.nodes.insert(static_cast<int>(bit));
    }
  }
  return policy;
}

std::string kernel_policy_text(MemoryPolicy policy, const IdSet& nodes) {
  switch (policy) {
    case MemoryPolicy::kBind:
      return "bind:" + format_id_list(nodes);
    case MemoryPolicy::kPreferred:
      return "prefer:" + format_id_list(nodes);
    case MemoryPolicy::kPreferredMany:
      return "prefer (many):" + format_id_list(nodes);
    case MemoryPolicy::kInterleave:
      return "interleave:" + format_id_list(nodes);
    case MemoryPolicy::kWeightedInterleave:
      return "weighted interleave:" + format_id_list(nodes);
    case MemoryPolicy::kLocal:
      return "local";
    case MemoryPolicy::kDefault:
      break;
  }
  return "default";
}

std::string kernel_policy_text(const Placement& placement) {
  std::string text = kernel_policy_text(placement.memory, placement.memory_nodes);
  if (placement.balancing) text.insert(text.find(':'), "=");
  return text;
}

std::string without_flag_names(std::string policy) {
  constexpr std::string_view kNamed = "=balancing:";
  const auto named = policy.find(kNamed);
  if (named != std::string::npos) policy.replace(named, kNamed.size(), "=:");
  return policy;
}

void throw_numa_error(ErrorKind kind, const std::string& call, int error_number) {
  throw Error(kind, fmt::format("{} failed: {}", call, std::strerror(error_number)),
              remedy_for(error_number));
}

void throw_policy_error(ErrorKind kind, const Placement& placement, int error_number) {
  const std::string kernel = first_kernel(placement);
  Placement memory = placement;
  memory.cpus.clear();
  const std::string call = "set_mempolicy of " + describe(memory);
  if (error_number != EINVAL || kernel.empty()) throw_numa_error(kind, call, error_number);
  throw Error(kind, fmt::format("{} failed: {}", call, std::strerror(error_number)),
              fmt::format("it needs Linux {}, this is {}", kernel, kernel_release()));
}

}  // namespace numabench
