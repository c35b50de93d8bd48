#include "runner/engines/postgres/forked_processes.h"

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "hosts/child.h"
#include "hosts/error.h"
#include "hosts/placement.h"
#include "runner/engines/client_placement.h"

namespace numabench {
namespace {

/// The server starts it after it has begun to accept connections.
pid_t background_writer_pid(Connection& connection) {
  constexpr auto kQuery =
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'background writer'";
  const Deadline deadline(std::chrono::seconds(10));
  while (!deadline.has_passed()) {
    if (const auto pid = connection.value(kQuery)) return std::stoi(*pid);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw Error(ErrorKind::kRun, "the server has no background writer to place",
              "leave `background_writer` out of the placement");
}

}  // namespace

pid_t place_background_writer(Connection& connection, const PlacementConfig& config) {
  if (!config.roles.contains("background_writer")) return 0;
  const pid_t pid = background_writer_pid(connection);
  const IdSet cpus = forked_placement(config, "background_writer").cpus;
  if (!cpus.empty()) move_to_cpus(pid, cpus);
  return pid;
}

void on_loader_cpus(Connection& connection, const PlacementConfig& config,
                    const std::function<void()>& work) {
  const pid_t backend = connection.backend_pid();
  const std::optional<ObservedPlacement> usual = observe(backend);
  const bool moves = usual && config.roles.contains("loader");
  const IdSet cpus = forked_placement(config, "loader").cpus;
  if (moves && !cpus.empty()) move_to_cpus(backend, cpus);
  work();
  if (moves) move_to_cpus(backend, usual->cpus);
}

}  // namespace numabench
