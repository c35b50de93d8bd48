#include "runner/engines/embedded/worker_group.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "hosts/error.h"

namespace numabench {
namespace {

constexpr int kGaveUp = 1;
constexpr std::chrono::seconds kStopTimeout{10};

}  // namespace

std::size_t WorkerGroup::fork(const WorkerSpec& spec,
                              const std::function<void(std::size_t)>& body) {
  const std::size_t slot = members_.size();
  // Placed in here, so that what the kernel refuses is reported as what `body` throws is.
  members_.push_back({spec, Worker::fork({}, [&] {
                        try {
                          apply(spec.placement);
                          body(slot);
                          return 0;
                        } catch (const std::exception& error) {
                          control_.set_error(slot, error.what());
                          return kGaveUp;
                        }
                      })});
  return slot;
}

void WorkerGroup::wait_until_ready(std::size_t slot) {
  while (control_.slot(slot).ready.load(std::memory_order_acquire) == 0) {
    check_alive();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void WorkerGroup::wait_until_all_are_ready() {
  for (std::size_t slot = 0; slot < members_.size(); ++slot) wait_until_ready(slot);
}

void WorkerGroup::check_alive() {
  for (std::size_t slot = 0; slot < members_.size(); ++slot) {
    const auto exit = members_[slot].worker.poll();
    if (exit) report(members_[slot], slot, *exit);
  }
}

void WorkerGroup::report(const Member& member, std::size_t slot, const Worker::Exit& exit) const {
  const std::string error = control_.slot(slot).error.data();
  const std::string how = exit.signal != 0 ? fmt::format("was killed by signal {}", exit.signal)
                          : error.empty()  ? fmt::format("ended with exit code {}", exit.exit_code)
                                           : "gave up: " + error;
  throw Error(ErrorKind::kRun, fmt::format("{} {}", member.spec.name, how));
}

void WorkerGroup::watch() {
  for (const Member& member : members_) {
    watch_.look(member.spec.role, member.worker.pid(), member.spec.placement);
  }
}

std::vector<RoleProcess> WorkerGroup::processes() const {
  std::vector<RoleProcess> processes;
  for (const Member& member : members_) {
    processes.push_back({member.spec.role, member.worker.pid(), member.spec.placement.cpus});
  }
  return processes;
}

void WorkerGroup::join() {
  for (std::size_t slot = 0; slot < members_.size(); ++slot) {
    const Worker::Exit exit = members_[slot].worker.wait(kStopTimeout);
    if (!exit.ok()) report(members_[slot], slot, exit);
  }
}

}  // namespace numabench
