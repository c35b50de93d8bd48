#include "runner/engines/placement_watch.h"

#include <fmt/format.h>

#include "hosts/process_stats.h"

namespace numabench {

void PlacementWatch::look(const std::string& role, pid_t pid, const Placement& expected) {
  const std::optional<ObservedPlacement> observed = observe(pid);
  if (!observed) return;
  const std::optional<std::int64_t> migrations = cpu_migrations(pid);
  const auto [found, is_new] = seen_.try_emplace({role, pid});
  Seen& seen = found->second;
  PlacementProofRecord& proof = seen.proof;
  if (is_new) {
    proof = {.role = role, .pid = pid, .expected = describe(expected), .observed = {}, .looks = 0};
    seen.first_migrations = migrations;
  }
  ++proof.looks;
  if (migrations && seen.first_migrations) {
    proof.cpu_migrations = *migrations - *seen.first_migrations;
  } else {
    proof.cpu_migrations_reason = "the kernel has no /proc/PID/sched (CONFIG_SCHED_DEBUG)";
  }
  if (!proof.differs.empty()) return;  // what was seen then is what counts
  proof.observed = describe(*observed);
  proof.differs = mismatch(expected, *observed);
  if (!proof.differs.empty() && escaped_.empty()) {
    escaped_ = fmt::format("{} (pid {}) {}", role, pid, proof.differs);
  }
}

std::vector<PlacementProofRecord> PlacementWatch::records() const {
  std::vector<PlacementProofRecord> records;
  for (const auto& [key, seen] : seen_) records.push_back(seen.proof);
  return records;
}

}  // namespace numabench
