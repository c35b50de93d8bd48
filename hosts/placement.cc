#include "hosts/placement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "hosts/error.h"
#include "hosts/file_descriptor.h"
#include "hosts/files.h"
#include "hosts/memory_policy.h"

namespace numabench {
namespace {

constexpr std::size_t kMaskBits = 8 * sizeof(__cpu_mask);

// Of the thread `tid`, 0 being the calling one. False, with errno set, when the kernel refuses.
bool set_affinity(pid_t tid, const IdSet& cpus) {
  // Not a cpu_set_t, which ends at CPU 1023.
  std::vector<__cpu_mask> mask(static_cast<std::size_t>(*cpus.rbegin()) / kMaskBits + 1);
  for (const int cpu : cpus) {
    const auto bit = static_cast<std::size_t>(cpu);
    mask[bit / kMaskBits] |= __cpu_mask{1} << (bit % kMaskBits);
  }
  const std::size_t bytes = mask.size() * sizeof(__cpu_mask);
  return ::sched_setaffinity(tid, bytes, reinterpret_cast<const cpu_set_t*>(mask.data())) == 0;
}

// nullopt when the thread is gone.
std::optional<IdSet> get_affinity(pid_t tid) {
  std::vector<__cpu_mask> mask(16);
  const auto read = [&] {
    return ::sched_getaffinity(tid, mask.size() * sizeof(__cpu_mask),
                               reinterpret_cast<cpu_set_t*>(mask.data()));
  };
  // EINVAL: the kernel's masks are wider than ours.
  while (read() != 0) {
    if (errno != EINVAL || mask.size() >= 65536) return std::nullopt;
    mask.assign(mask.size() * 2, 0);
  }
  IdSet cpus;
  for (std::size_t bit = 0; bit < mask.size() * kMaskBits; ++bit) {
    if ((mask[bit / kMaskBits] >> (bit % kMaskBits)) & 1) cpus.insert(static_cast<int>(bit));
  }
  return cpus;
}

[[noreturn]] void throw_affinity_error(const IdSet& cpus, int error_number) {
  throw Error(ErrorKind::kRun,
              fmt::format("sched_setaffinity to CPUs {} failed: {}", format_id_list(cpus),
                          std::strerror(error_number)),
              "the CPUs must be online and in the cpuset of this process");
}

// The kernel leaves out CPUs that it does not allow without a word.
void bind_this_process(const IdSet& cpus) {
  if (!set_affinity(0, cpus)) throw_affinity_error(cpus, errno);
  const IdSet got = get_affinity(0).value_or(IdSet{});
  if (got == cpus) return;
  throw Error(ErrorKind::kRun,
              fmt::format("sched_setaffinity to CPUs {} gave CPUs {}", format_id_list(cpus),
                          format_id_list(got)),
              "the others are offline or outside the cpuset of this process");
}

void set_memory_policy(const Placement& placement) {
  const ThreadPolicy wanted = thread_policy(placement);
  if (!set_thread_policy(wanted)) throw_policy_error(ErrorKind::kRun, placement, errno);
  const ThreadPolicy got = get_thread_policy(ErrorKind::kRun);
  if (got == wanted) return;
  throw Error(
      ErrorKind::kRun,
      fmt::format("set_mempolicy to mode {} on nodes {} gave mode {} on nodes {}", wanted.mode,
                  format_id_list(wanted.nodes), got.mode, format_id_list(got.nodes)),
      "the other nodes have no memory or are outside the cpuset of this process");
}

// The CPUs of the first thread that has others than the main one; empty when all have the same.
IdSet stray_thread_cpus(pid_t pid, const IdSet& main_cpus) {
  for (const int thread : numbered_entries(fmt::format("/proc/{}/task", pid), "")) {
    const auto cpus = thread == pid ? std::nullopt : get_affinity(thread);
    if (cpus && *cpus != main_cpus) return *cpus;
  }
  return {};
}

// What stands before the first attribute of a line such as "7fff1f07f000 bind:0 stack anon=4" or
// "55d0c0a00000 weighted interleave:0-1 file=/bin/cat mapped=5".
std::string policy_of_line(std::string_view line) {
  const auto start = line.find(' ');
  if (start == std::string_view::npos) return "";
  line = line.substr(start + 1, line.find('\n') - start - 1);
  std::size_t end = line.size();
  for (const std::string_view attribute : {" file=", " heap", " stack", " huge", " anon="}) {
    end = std::min(end, line.find(attribute));
  }
  std::string policy(line.substr(0, end));
  while (policy.ends_with(' ')) policy.pop_back();
  return policy;
}

// The policy of the process's first mapping, its program, which has no policy of its own and so
// shows the task's. Read in small pieces: the kernel walks the pages of as many mappings as the
// buffer has room for, and a server's are many.
std::string task_policy(pid_t pid) {
  const FileDescriptor maps(
      ::open(fmt::format("/proc/{}/numa_maps", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!maps.is_open()) return "";
  std::string line;
  std::array<char, 64> piece;
  while (line.find('\n') == std::string::npos) {
    const ssize_t count = ::read(maps.get(), piece.data(), piece.size());
    if (count <= 0) break;
    line.append(piece.data(), static_cast<std::size_t>(count));
  }
  return policy_of_line(line);
}

std::string describe(const IdSet& cpus, const std::string& policy) {
  std::string text = cpus.empty() ? "" : "cpus " + format_id_list(cpus);
  if (!policy.empty()) text += (text.empty() ? "" : ", ") + policy;
  return text;
}

// numactl's words: "bind 0", "preferred 1", "interleave 0-3", "local".
std::string numactl_text(const Placement& placement) {
  const std::string nodes = format_id_list(placement.memory_nodes);
  switch (placement.memory) {
    case MemoryPolicy::kBind:
      return "bind " + nodes + (placement.balancing ? " balancing" : "");
    case MemoryPolicy::kPreferred:
      return "preferred " + nodes;
    case MemoryPolicy::kPreferredMany:
      return "preferred-many " + nodes;
    case MemoryPolicy::kInterleave:
      return "interleave " + nodes;
    case MemoryPolicy::kWeightedInterleave:
      return "weighted-interleave " + nodes;
    case MemoryPolicy::kLocal:
      return "local";
    case MemoryPolicy::kDefault:
      break;
  }
  return "";
}

std::string cpu_mismatch(const IdSet& wanted, const ObservedPlacement& observed) {
  if (wanted.empty()) return "";
  const std::string instead = " instead of " + format_id_list(wanted);
  if (observed.cpus != wanted) return "runs on CPUs " + format_id_list(observed.cpus) + instead;
  if (observed.stray_cpus.empty()) return "";
  return "has a thread on CPUs " + format_id_list(observed.stray_cpus) + instead;
}

}  // namespace

std::string describe(const Placement& placement) {
  if (placement.is_free()) return "free";
  const std::string text = describe(placement.cpus, numactl_text(placement));
  return text + (placement.touch ? (text.empty() ? "touch" : ", touch") : "");
}

void apply(const Placement& placement) {
  if (!placement.cpus.empty()) bind_this_process(placement.cpus);
  if (placement.memory != MemoryPolicy::kDefault) set_memory_policy(placement);
}

void move_to_cpus(pid_t pid, const IdSet& cpus) {
  for (const int thread : numbered_entries(fmt::format("/proc/{}/task", pid), "")) {
    if (!set_affinity(thread, cpus)) throw_affinity_error(cpus, errno);
  }
}

std::optional<ObservedPlacement> observe(pid_t pid) {
  const auto cpus = get_affinity(pid);
  if (!cpus) return std::nullopt;
  const auto status = read_text_file(fmt::format("/proc/{}/status", pid));
  if (!status) return std::nullopt;
  ObservedPlacement observed;
  observed.cpus = *cpus;
  const auto nodes = parse_id_list(labelled_value(*status, "Mems_allowed_list").value_or(""));
  observed.memory_nodes = nodes.value_or(IdSet{});
  observed.policy = task_policy(pid);
  observed.stray_cpus = stray_thread_cpus(pid, *cpus);
  return observed;
}

std::string describe(const ObservedPlacement& observed) {
  std::string text = describe(observed.cpus, observed.policy);
  if (!observed.stray_cpus.empty()) {
    text += ", a thread on cpus " + format_id_list(observed.stray_cpus);
  }
  return text;
}

std::string mismatch(const Placement& placement, const ObservedPlacement& observed) {
  if (const std::string cpus = cpu_mismatch(placement.cpus, observed); !cpus.empty()) return cpus;
  if (placement.memory == MemoryPolicy::kDefault || observed.policy.empty()) return "";
  const std::string wanted = kernel_policy_text(placement);
  if (wanted == without_flag_names(observed.policy)) return "";
  return fmt::format("has memory policy {} instead of {}", observed.policy, wanted);
}

}  // namespace numabench
