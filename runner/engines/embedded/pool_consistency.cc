// The walk over a pool at rest that every run ends with.
#include <fmt/format.h>

#include "runner/engines/embedded/buffer_descriptor.h"
#include "runner/engines/embedded/buffer_pool.h"
#include "runner/engines/embedded/dense_map.h"
#include "runner/engines/embedded/mapping_table.h"
#include "runner/engines/embedded/usage_rule.h"

namespace numabench {
std::uint64_t BufferPool::mapped_pages() const {
  return dense_mapping_ ? dense_mapping_->entries() : hash_mapping_->entries();
}

std::string BufferPool::buffer_defect(BufferId buffer) const {
  using namespace buffer_state;
  const std::uint64_t state = descriptors_[buffer].state.load();
  const PageNumber page = descriptors_[buffer].tag.load();
  const std::uint32_t usage = buffer_state::usage(state);
  if (refcount(state) != 0) return fmt::format("buffer {} is pinned {}×", buffer, refcount(state));
  if (has(state, kIoInProgress)) return fmt::format("buffer {} is still being read", buffer);
  if (usage > highest_usage(policy_.usage)) {
    return fmt::format("buffer {} has usage {}", buffer, usage);
  }
  if (!has(state, kTagValid)) {
    return state == 0 ? "" : fmt::format("buffer {} has no page but state {:#x}", buffer, state);
  }
  if (page >= shape_.dataset_pages) {
    return fmt::format("buffer {} holds page {} of {}", buffer, page, shape_.dataset_pages);
  }
  const BufferId mapped = find(page);
  if (mapped == kNoBuffer) {
    return fmt::format("buffer {} holds page {}, which is not mapped", buffer, page);
  }
  return mapped == buffer ? ""
                          : fmt::format("page {} is in buffers {} and {}", page, buffer, mapped);
}

std::string BufferPool::find_inconsistency() const {
  for (BufferId buffer = 0; buffer < shape_.buffers; ++buffer) {
    if (std::string defect = buffer_defect(buffer); !defect.empty()) return defect;
  }
  // Each occupied buffer was found above, so equal numbers leave no entry that points elsewhere.
  const std::uint64_t occupied = occupied_buffers();
  const std::uint64_t mapped = mapped_pages();
  return mapped == occupied
             ? ""
             : fmt::format("{} buffers hold a page, but {} pages are mapped", occupied, mapped);
}

}  // namespace numabench
