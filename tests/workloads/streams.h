// Reading the accesses of a workload's clients in tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/workload.h"

namespace numabench {

/// The first `count` accesses of client `index` of the role `role`, in calls of `batch` accesses.
inline std::vector<Access> read_accesses(const Workload& workload, const std::string& role,
                                         int index, const WorkloadSize& size, std::uint64_t seed,
                                         std::size_t count, std::size_t batch = 256) {
  for (const Role& known : workload.roles(index + 1)) {
    if (known.name != role) continue;
    const std::unique_ptr<AccessStream> stream = workload.open_stream(known, index, size, seed);
    std::vector<Access> accesses(count);
    for (std::size_t i = 0; i < count; i += batch) {
      stream->next(std::span(accesses).subspan(i, std::min(batch, count - i)));
    }
    return accesses;
  }
  return {};
}

inline std::vector<PageNumber> pages_of(const std::vector<Access>& accesses) {
  std::vector<PageNumber> pages;
  for (const Access& access : accesses) pages.push_back(access.page);
  return pages;
}

}  // namespace numabench
