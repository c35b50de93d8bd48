#include "runner/engines/embedded/embedded_run.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <iterator>

#include "hosts/error.h"
#include "hosts/units.h"
#include "runner/engines/embedded/background_writer.h"
#include "runner/engines/embedded/client.h"
#include "runner/engines/embedded/pool_huge_pages.h"
#include "runner/engines/pool_memory.h"

namespace numabench {
namespace {

constexpr std::size_t kServerLoaderAndWriter = 3;
constexpr double kEnoughLaps = 3;

std::size_t client_count(const std::vector<Role>& roles) {
  std::size_t count = 0;
  for (const Role& role : roles) count += static_cast<std::size_t>(role.count);
  return count;
}

/// By CPU id: the index in `nodes` of the CPU's node, or of the nearest when it has no memory.
std::vector<int> node_indexes(const Topology& topology, const std::vector<int>& nodes) {
  std::vector<int> indexes;
  for (const Cpu& cpu : topology.cpus()) {
    const auto distance = [&](int node) {
      return node == cpu.node ? 0 : std::max(1, topology.distance(cpu.node, node));
    };
    const auto nearest = std::min_element(nodes.begin(), nodes.end(), [&](int left, int right) {
      return distance(left) < distance(right);
    });
    indexes.resize(static_cast<std::size_t>(cpu.id) + 1, 0);
    indexes.back() = static_cast<int>(nearest - nodes.begin());
  }
  return indexes;
}

}  // namespace

PoolShape pool_shape(const CellSetup& setup) {
  PoolShape shape;
  shape.buffers = static_cast<std::uint32_t>(setup.size.pool_pages);
  shape.dataset_pages = static_cast<std::uint32_t>(setup.workload.dataset(setup.size).pages());
  const IdSet nodes = setup.host.topology.allowed_nodes();
  if (!nodes.empty()) shape.nodes.assign(nodes.begin(), nodes.end());
  shape.page_contents = setup.regime != Regime::kNone;
  shape.huge_pages = definite_huge_pages(setup, shape);
  return shape;
}

EmbeddedRun::EmbeddedRun(const CellSetup& setup, std::uint64_t seed, const PageSource* pages,
                         TickClock clock)
    : setup_(setup),
      seed_(seed),
      pages_(pages),
      clock_(clock),
      dataset_(setup.workload.dataset(setup.size)),
      roles_(setup.workload.roles(setup.clients)),
      pool_(setup.arm.policy, pool_shape(setup)),
      control_(client_count(roles_) + kServerLoaderAndWriter),
      workers_(control_) {
  for (const Role& role : roles_) {
    warm_streams_.push_back(setup.workload.open_stream(role, 0, setup.size, seed));
  }
}

void EmbeddedRun::start() {
  start_server();
  if (has_loader()) start_loader();
  start_clients();
  start_background_writer();
  // Without a loader the first client fills the pool; the others wait for the warm-up. All have
  // their placement before anybody looks where they are.
  workers_.wait_until_all_are_ready();
  laps_before_ = pool_.laps();
  control_.enter(Phase::kWarmup);
}

void EmbeddedRun::start_server() {
  const Placement placement = process_placement(setup_.placement, "server");
  const std::size_t server =
      workers_.fork({"the server", "server", placement}, [&](std::size_t slot) {
        pool_.place_memory(placement.touch);
        control_.slot(slot).ready = 1;
        control_.wait_for(Phase::kStop);
      });
  workers_.wait_until_ready(server);
}

void EmbeddedRun::start_clients() {
  ClientPlacement placements(setup_.placement, setup_.host.topology);
  for (const Role& role : roles_) {
    for (int index = 0; index < role.count; ++index) {
      const Placement placement = placements.next(role.name);
      const IdSet cpus =
          placement.cpus.empty() ? setup_.host.topology.allowed_cpus() : placement.cpus;
      client_cpus_.insert(cpus.begin(), cpus.end());
      const std::string name = fmt::format("{} {}", role.name, index);
      const std::size_t client = workers_.fork(
          {name, role.name, placement}, [&](std::size_t slot) { run_client(role, index, slot); });
      clients_.push_back({client, role.kind});
    }
  }
}

void EmbeddedRun::start_loader() {
  const Placement placement = process_placement(setup_.placement, "loader");
  const std::size_t loader =
      workers_.fork({"the loader", "loader", placement}, [&](std::size_t slot) {
        Client client = make_client(roles_.front(), 0, slot);
        fill(client);
        control_.slot(slot).ready = 1;
        control_.wait_for(Phase::kStop);
      });
  workers_.wait_until_ready(loader);
}

Client EmbeddedRun::make_client(const Role& role, int index, std::size_t slot) {
  return Client({.pool = pool_,
                 .control = control_,
                 .slot = slot,
                 .kind = role.kind,
                 .dataset = dataset_,
                 .pages = pages_,
                 .clock = clock_,
                 .location = location()},
                setup_.workload.open_stream(role, index, setup_.size, seed_));
}

void EmbeddedRun::run_client(const Role& role, int index, std::size_t slot) {
  Client client = make_client(role, index, slot);
  const bool first = &role == &roles_.front() && index == 0;
  if (first && !has_loader()) fill(client);
  control_.slot(slot).ready = 1;
  client.run();
}

// In a server the background writer and the balancer run while the disk paces the fill. A fill from
// memory would be over before their first cycle, so here the pages read pace the cycles
// (Experiment::fill_cycles). It matters: while one client fills, only its home partition has
// requests, so the balancer sends a part of them elsewhere; when all clients start, the partitions'
// requests are equal, "nothing changes", and those weights stay. The home partition then serves
// less than its share, its hand is slow, and the index that lies in it never cools: the long tail
// of numa-only.
void EmbeddedRun::fill(Client& client) {
  const std::vector<PageNumber> pages = setup_.workload.fill_pages(setup_.size, seed_);
  const auto cycles = static_cast<std::uint32_t>(setup_.experiment.fill_cycles);
  const std::size_t pages_per_cycle =
      cycles == 0 ? pages.size() + 1 : std::max(1u, pool_.shape().buffers / cycles);
  BackgroundWriter writer(pool_);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    client.fill(pages[i]);
    if ((i + 1) % pages_per_cycle == 0) writer.cycle();
  }
}

std::function<BackendLocation()> EmbeddedRun::location() const {
  return [indexes = node_indexes(setup_.host.topology, pool_.shape().nodes)] {
    const int cpu = std::max(0, sched_getcpu());
    return BackendLocation{indexes[static_cast<std::size_t>(cpu) % indexes.size()], cpu};
  };
}

void EmbeddedRun::start_background_writer() {
  if (!BackgroundWriter::is_needed(setup_.arm.policy)) return;
  const Placement placement = process_placement(setup_.placement, "background_writer");
  workers_.fork({"the background writer", "background_writer", placement}, [&](std::size_t slot) {
    control_.slot(slot).ready = 1;
    control_.wait_for(Phase::kWarmup);
    run_background_writer(pool_, control_);
  });
}

void EmbeddedRun::begin_window() {
  watch_placements();
  pool_memory_ = pool_memory(pool_.regions(), PoolMemoryRecord::Moment::kBefore);
  occupied_before_ = pool_.occupied_buffers();
  laps_before_ = pool_.laps();
  window_start_ns_ = monotonic_ns();
  control_.enter(Phase::kWindow);
}

EngineProgress EmbeddedRun::progress() const {
  EngineProgress progress;
  const bool in_window = control_.phase() >= Phase::kWindow;
  for (const ClientSlot& client : clients_) {
    const WorkerSlot& slot = control_.slot(client.slot);
    const BackendCounters& counters = in_window ? slot.window : slot.uncounted;
    *progress.transactions += counters.transactions.get();
    *progress.scans += counters.scans.get();
    progress.accesses += counters.accesses.get();
    progress.reads += counters.reads.get();
  }
  progress.laps = pool_.laps() - laps_before_;
  return progress;
}

EngineStats EmbeddedRun::finish() {
  window_s_ = static_cast<double>(monotonic_ns() - window_start_ns_) * 1e-9;
  control_.enter(Phase::kObserve);
  window_laps_ = pool_.laps() - laps_before_;
  watch_placements();
  control_.enter(Phase::kStop);
  workers_.join();
  if (const std::string defect = pool_.find_inconsistency(); !defect.empty()) {
    throw Error(ErrorKind::kRun, "the pool is inconsistent: " + defect,
                "this is a defect of the engine; please report it with the experiment and seed");
  }
  EngineStats stats;
  const std::vector<PoolMemoryRecord> memory_after =
      pool_memory(pool_.regions(), PoolMemoryRecord::Moment::kAfter);
  stats.values = metric_values(memory_after);
  stats.events = events();
  stats.placement_proofs = workers_.placements().records();
  const std::string& escaped = workers_.placements().escaped();
  if (!escaped.empty()) stats.breaches.push_back({"placement_escaped", escaped});
  std::ranges::copy(memory_after, std::back_inserter(pool_memory_));
  stats.pool_memory = pool_memory_;
  return stats;
}

WindowFacts EmbeddedRun::window_facts() const {
  WindowFacts facts;
  facts.window_s = window_s_;
  facts.laps = window_laps_;
  facts.buffers = pool_.shape().buffers;
  facts.occupied_before = occupied_before_;
  facts.occupied_after = pool_.occupied_buffers();
  for (const PageNumber page : setup_.workload.hot_pages(setup_.size, seed_)) {
    ++facts.hot_pages;
    facts.hot_pages_not_resident += pool_.is_resident(page) ? 0 : 1;
  }
  facts.client_cpus = static_cast<int>(std::min(client_cpus_.size(), clients_.size()));
  facts.partitions = pool_.partitions();
  facts.has_bound = setup_.arm.policy.bound > 0;
  facts.has_rings = setup_.arm.policy.rings;
  return facts;
}

std::vector<MetricValue> EmbeddedRun::metric_values(
    const std::vector<PoolMemoryRecord>& memory) const {
  WindowMetrics metrics;
  for (const ClientSlot& client : clients_) metrics.add(control_.slot(client.slot), client.kind);
  std::vector<MetricValue> values = metrics.values(window_facts());

  std::ranges::move(pool_memory_values(memory), std::back_inserter(values));
  values.push_back(MetricValue::of(
      "working_set_ratio",
      static_cast<double>(dataset_.bytes()) / static_cast<double>(setup_.pool_bytes)));
  return values;
}

std::vector<EventRecord> EmbeddedRun::events() const {
  std::vector<EventRecord> events;
  if (window_laps_ < kEnoughLaps) {
    events.push_back(
        {"warning",
         fmt::format("the hand made {:.2f} laps in the window, so the numbers depend on where it "
                     "stood; measure longer or give the duration in laps (3 or more)",
                     window_laps_)});
  }
  const int asked = setup_.arm.policy.partitions;
  if (asked != 1 && pool_.shape().nodes.size() == 1) {
    events.push_back(
        {"info", asked == 0
                     ? "one partition a node on a host with 1 node: the sweep is not partitioned"
                     : fmt::format("{} partitions on a host with 1 node: they divide the sweep, "
                                   "not the memory",
                                   asked)});
  }
  return events;
}

}  // namespace numabench
