#include "runner/engines/embedded/embedded_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hosts/error.h"
#include "runner/engines/embedded/buffer_descriptor.h"
#include "runner/engines/embedded/embedded_run.h"
#include "runner/engines/embedded/mapping_table.h"
#include "runner/engines/embedded/run_control.h"

namespace numabench {
namespace {

// Measured on a 2-core virtual machine; for the estimate only.
constexpr double kStartSeconds = 0.1;
constexpr double kForkSeconds = 0.001;
constexpr double kMissSeconds = 3e-7;
constexpr double kCopiedMissSeconds = 2e-6;
constexpr double kDirectMissSeconds = 1e-4;
constexpr double kFileBytesPerSecond = 1e9;

std::uint64_t partitions_of(const CellSetup& setup) {
  const int asked = setup.arm.policy.partitions;
  return asked > 0 ? static_cast<std::uint64_t>(asked)
                   : std::max<std::uint64_t>(1, setup.host.topology.allowed_nodes().size());
}

std::uint64_t clients_of(const CellSetup& setup) {
  std::uint64_t clients = 0;
  for (const Role& role : setup.workload.roles(setup.clients)) {
    clients += static_cast<std::uint64_t>(role.count);
  }
  return clients;
}

double fill_seconds(const CellSetup& setup, std::uint64_t dataset_bytes) {
  const auto pages =
      static_cast<double>(std::min(setup.size.pool_pages, dataset_bytes / kPageBytes));
  const double file = static_cast<double>(dataset_bytes) / kFileBytesPerSecond;
  switch (setup.regime) {
    case Regime::kResident:
    case Regime::kPageCache:
      return file + pages * kCopiedMissSeconds;
    case Regime::kRealIo:
      return file + pages * kDirectMissSeconds;
    case Regime::kNone:
      break;
  }
  return pages * kMissSeconds;
}

class EmbeddedEngine : public Engine {
 public:
  std::string_view name() const override { return "embedded"; }
  std::string refuses(const CellSetup& setup) const override;
  ResourceEstimate estimate(const CellSetup& setup) const override;
  void prepare(const CellSetup& setup, std::uint64_t run_seed) override;
  void start() override { run().start(); }
  void reset_counters() override { run().begin_window(); }
  EngineProgress progress() const override { return run().progress(); }
  std::vector<RoleProcess> processes() const override { return run().processes(); }
  std::string data_path() const override { return pages_ ? pages_directory_ : ""; }
  std::vector<Breach> look() override;
  void check_alive() override { run().check_alive(); }
  EngineStats stats() override { return run().finish(); }
  void stop() override { run_.reset(); }

 private:
  EmbeddedRun& run() const;
  const PageSource* provide_pages(const CellSetup& setup);

  std::optional<TickClock> clock_;
  std::unique_ptr<PageSource> pages_;  ///< kept from run to run
  Regime pages_regime_ = Regime::kNone;
  std::string pages_directory_;
  std::unique_ptr<EmbeddedRun> run_;
};

std::string EmbeddedEngine::refuses(const CellSetup& setup) const {
  if (!setup.workload.has_streams()) return "with these parameters it is for a server only";
  const std::uint64_t nodes = std::max<std::size_t>(1, setup.host.topology.allowed_nodes().size());
  const std::uint64_t partitions = partitions_of(setup);
  if (partitions > 1 && partitions % nodes != 0) {
    return fmt::format("{} partitions do not divide over the {} nodes of this host", partitions,
                       nodes);
  }
  // Every client can hold a pin and look for a victim at the same time.
  const std::uint64_t smallest = setup.size.pool_pages / partitions;
  if (smallest <= 2 * clients_of(setup)) {
    return fmt::format("a partition of {} buffers is too small for {} clients", smallest,
                       clients_of(setup));
  }
  if (setup.size.pool_pages >= kNoBuffer) return "the pool has more than 2^32 buffers";
  if (setup.regime != Regime::kNone && setup.experiment.data_directory.empty()) {
    return "regime " + to_string(setup.regime) + " reads a file and needs a data_directory";
  }
  if (setup.regime == Regime::kResident &&
      setup.workload.dataset(setup.size).pages() > setup.size.pool_pages) {
    return "the working set does not fit into the pool, so that it is not resident";
  }
  return "";
}

ResourceEstimate EmbeddedEngine::estimate(const CellSetup& setup) const {
  const std::uint64_t dataset_bytes = setup.workload.dataset(setup.size).bytes();
  const auto buffers = static_cast<std::uint32_t>(setup.size.pool_pages);
  const bool dense = setup.arm.policy.mapping == PoolPolicy::Mapping::kDense;
  ResourceEstimate estimate;
  estimate.memory_bytes =
      sizeof(BufferDescriptor) * setup.size.pool_pages +
      (dense ? dataset_bytes / kPageBytes * sizeof(std::uint32_t) : MappingTable::bytes(buffers)) +
      sizeof(WorkerSlot) * clients_of(setup);
  if (setup.regime != Regime::kNone) {
    estimate.memory_bytes += setup.pool_bytes;
    estimate.disk_bytes = dataset_bytes;
    estimate.disk_path = setup.experiment.data_directory;
  }
  if (setup.regime == Regime::kResident || setup.regime == Regime::kPageCache) {
    estimate.memory_bytes += dataset_bytes;
  }
  estimate.setup_seconds = kStartSeconds + kForkSeconds * static_cast<double>(clients_of(setup)) +
                           fill_seconds(setup, dataset_bytes);
  return estimate;
}

void EmbeddedEngine::prepare(const CellSetup& setup, std::uint64_t run_seed) {
  stop();
  if (!clock_) clock_ = TickClock::of_this_host();
  run_ = std::make_unique<EmbeddedRun>(setup, run_seed, provide_pages(setup), *clock_);
}

/// What is seen is part of stats().
std::vector<Breach> EmbeddedEngine::look() {
  run().watch_placements();
  return {};
}

const PageSource* EmbeddedEngine::provide_pages(const CellSetup& setup) {
  const std::string& directory = setup.experiment.data_directory;
  if (setup.regime == Regime::kNone) return nullptr;
  if (!pages_ || pages_regime_ != setup.regime || pages_directory_ != directory) {
    pages_.reset();
    pages_ = std::make_unique<PageSource>(directory, setup.regime);
    pages_regime_ = setup.regime;
    pages_directory_ = directory;
  }
  pages_->provide(static_cast<PageNumber>(setup.workload.dataset(setup.size).pages()));
  return pages_.get();
}

EmbeddedRun& EmbeddedEngine::run() const {
  if (!run_) throw Error(ErrorKind::kInternal, "the embedded engine has not been prepared");
  return *run_;
}

}  // namespace

std::unique_ptr<Engine> make_embedded_engine() { return std::make_unique<EmbeddedEngine>(); }

}  // namespace numabench
