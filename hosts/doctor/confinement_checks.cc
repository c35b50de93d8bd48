// What control groups and resource limits leave to this process.
#include <fmt/format.h>

#include "hosts/doctor/check_list.h"
#include "hosts/id_set.h"
#include "hosts/units.h"

namespace numabench {
namespace {

double as_number(const std::string& text) { return parse_number(text).value_or(0); }

std::uint64_t pool_bytes(const HostNeeds& needs) {
  std::uint64_t bytes = 0;
  for (const auto& [node, of_node] : needs.pool_bytes_by_node) bytes += of_node;
  return bytes;
}

/// A limit in bytes against what is needed of it.
void check_bytes(CheckList& list, const std::string& fact, std::uint64_t needed,
                 const std::string& why) {
  HostCheck& check = list.add_fact(
      fact, "none", why, "run numabench outside of this control group, or raise its limit");
  if (!check.reason.empty()) {
    check.value = "none";
    check.reason.clear();
    check.rating = Rating::kOk;
    return;
  }
  if (check.value == "max") check.value = "none";
  if (check.value == "none") return;
  const double limit = as_number(check.value);
  check.value = format_bytes(limit);
  if (needed > 0)
    check.wanted = fmt::format("at least {}", format_bytes(static_cast<double>(needed)));
  check.rating = static_cast<double>(needed) > limit ? Rating::kRed : Rating::kNote;
}

/// "max 100000", "max" or "200000 100000": microseconds of CPU time in each period.
void check_cpu_quota(CheckList& list) {
  HostCheck& check = list.add_fact(
      "cgroup cpu limit", "none",
      "when its share of a period is used up, every thread stands still until the next: tails of "
      "tens of milliseconds",
      "run numabench outside of this control group, or remove its cpu.max");
  if (!check.reason.empty() || check.value.starts_with("max")) {
    check.value = "none";
    check.reason.clear();
    check.rating = Rating::kOk;
    return;
  }
  check.rating = Rating::kRed;
}

void check_allowed_cpus(CheckList& list) {
  const auto allowed = parse_id_list(list.view.snapshot.value("cpus allowed"));
  HostCheck& check =
      list.add_fact("cpus allowed", "all that are online",
                    "other processes use the rest of the host, its caches and its memory bandwidth",
                    "run numabench outside of the cpuset, job or taskset that confines it");
  if (check.reason.empty() && allowed && allowed->size() < list.cpu_count()) {
    check.rating = Rating::kNote;
  }
}

void check_count(CheckList& list, const std::string& fact, double needed, const std::string& why,
                 const std::string& how) {
  HostCheck& check = list.add_fact(fact, fmt::format("at least {:.0f}", needed), why, how);
  if (!check.reason.empty() || check.value == "unlimited") return;
  if (as_number(check.value) < needed) check.rating = Rating::kRed;
}

void check_limits(CheckList& list) {
  constexpr double kFilesOfProcess = 256;  // a server's own, or a pgbench's beside its sockets
  constexpr double kProcessesOfServer = 64;
  const double clients = list.needs.clients;
  check_count(list, "open files limit", kFilesOfProcess + clients,
              "clients beyond it fail in mid-run", "ulimit -n 65536");
  check_count(list, "processes limit", kProcessesOfServer + 2 * clients,
              "clients beyond it cannot be started", "ulimit -u unlimited");
  HostCheck& locked = list.add_fact(
      "locked memory limit", "unlimited",
      "io_uring of kernels before 5.12 and locked pools count against it", "ulimit -l unlimited");
  if (locked.reason.empty() && locked.value != "unlimited") locked.rating = Rating::kNote;
}

}  // namespace

void check_confinement(CheckList& list) {
  check_allowed_cpus(list);
  check_cpu_quota(list);
  check_bytes(list, "cgroup memory limit", list.needs.memory_bytes,
              "beyond it the kernel reclaims the page cache in mid-run, then kills");
  check_bytes(
      list, "cgroup huge pages limit",
      list.needs.huge_pages == HostNeeds::HugePages::kNone ? 0 : pool_bytes(list.needs),
      "a pool beyond it dies of a bus error at the first touch, although huge pages are free");
  check_limits(list);
}

}  // namespace numabench
