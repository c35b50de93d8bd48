#include "runner/engines/embedded/run_control.h"

#include <time.h>

#include <algorithm>

namespace numabench {
namespace {

constexpr std::size_t kPhaseBytes = alignof(WorkerSlot);

}  // namespace

// Zero-filled memory is the initial state of every member, so the slots are first touched, and so
// placed, by the workers that own them.
RunControl::RunControl(std::size_t workers)
    : workers_(workers),
      region_(kPhaseBytes + sizeof(WorkerSlot) * workers, SharedRegion::HugePages::kOff),
      phase_(reinterpret_cast<std::atomic<Phase>*>(region_.data())),
      slots_(reinterpret_cast<WorkerSlot*>(region_.data() + kPhaseBytes)) {}

void RunControl::wait_for(Phase phase) const {
  const timespec nap{0, 200'000};
  while (phase_->load(std::memory_order_acquire) < phase) nanosleep(&nap, nullptr);
}

void RunControl::set_error(std::size_t worker, std::string_view text) {
  std::array<char, 512>& error = slots_[worker].error;
  const std::size_t length = std::min(text.size(), error.size() - 1);
  std::copy_n(text.begin(), length, error.begin());
  error[length] = '\0';
}

}  // namespace numabench
