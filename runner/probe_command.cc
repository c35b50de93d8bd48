// `numabench probe`: how fast memory, cores and storage of this host are, from each node to each.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <optional>

#include "hosts/error.h"
#include "hosts/probes/probe.h"
#include "hosts/probes/storage_probe.h"
#include "hosts/units.h"
#include "reports/figures.h"
#include "reports/gnuplot.h"
#include "reports/heat_map.h"
#include "reports/probe_store.h"
#include "reports/store.h"
#include "runner/clock.h"
#include "runner/commands.h"
#include "runner/host_lease.h"
#include "runner/progress.h"

namespace numabench {
namespace {

struct ProbeCommandOptions {
  std::string database;
  std::string output;
  std::string storage;
  std::string size;
  double seconds = 0.3;
};

HeatMap heat_map_of(const ProbeMatrix& matrix) {
  const bool bandwidth = matrix.unit == "B/s";
  HeatMap map;
  map.title = fmt::format("{}, {}", matrix.name, bandwidth ? "GiB/s" : matrix.unit);
  map.row_axis = "node of the core";
  map.column_axis = "node of the memory, or of the other core";
  for (const int node : matrix.rows) map.rows.push_back(std::to_string(node));
  for (const int node : matrix.columns) map.columns.push_back(std::to_string(node));
  map.values = matrix.values;
  for (std::vector<double>& row : map.values) {
    for (double& value : row) value = bandwidth ? value / 0x1p30 : value;
  }
  map.lower_is_better = matrix.lower_is_better();
  return map;
}

void draw(const MemoryProbe& probe, const std::string& directory) {
  for (const ProbeMatrix& matrix : probe.matrices) {
    for (const std::string& path :
         draw_heat_map(heat_map_of(matrix), directory, file_slug(matrix.name))) {
      fmt::print("{}\n", path);
    }
  }
}

void add_matrix(std::vector<ProbeRecord>& records, const ProbeMatrix& matrix) {
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
      const double value = matrix.values[row][column];
      ProbeRecord record{matrix.name,
                         matrix.unit,
                         fmt::format("node {}", matrix.rows[row]),
                         fmt::format("node {}", matrix.columns[column]),
                         value,
                         ""};
      if (!std::isfinite(value)) {
        record.value.reset();
        record.reason = "the node has one CPU only";
      }
      records.push_back(std::move(record));
    }
  }
}

std::vector<ProbeRecord> records_of(const MemoryProbe& probe,
                                    const std::optional<StorageProbe>& storage) {
  std::vector<ProbeRecord> records;
  for (const ProbeMatrix& matrix : probe.matrices) add_matrix(records, matrix);
  for (std::size_t i = 0; i < probe.counter.threads.size(); ++i) {
    records.push_back({"contended counter", "1/s",
                       fmt::format("{} threads", probe.counter.threads[i]), "",
                       probe.counter.adds_per_second[i], ""});
  }
  if (storage) {
    records.push_back(
        {"random reads", "1/s", storage->directory, "", storage->reads_per_second, ""});
    records.push_back(
        {"random read latency", "us", storage->directory, "", storage->mean_latency_us, ""});
    records.push_back(
        {"random read latency p99", "us", storage->directory, "", storage->p99_latency_us, ""});
  }
  return records;
}

void print(const MemoryProbe& probe, const std::optional<StorageProbe>& storage) {
  fmt::print("each figure in a region of {}\n\n",
             format_bytes(static_cast<double>(probe.region_bytes)));
  for (const ProbeMatrix& matrix : probe.matrices) fmt::print("{}\n", format_matrix(matrix));
  fmt::print("{}", format_counter(probe.counter));
  if (storage) {
    fmt::print("\nrandom reads of 8 KiB in {}: {} a second, mean {:.0f} µs, p99 {:.0f} µs\n",
               storage->directory, format_count(storage->reads_per_second),
               storage->mean_latency_us, storage->p99_latency_us);
  }
  for (const ProbeMatrix& matrix : probe.matrices) {
    for (const std::string& warning : find_suspicious(matrix)) {
      fmt::print(stderr, "numabench: warning: {}\n", warning);
    }
  }
}

ProbeOptions memory_options(const ProbeCommandOptions& options) {
  ProbeOptions memory;
  memory.seconds = options.seconds;
  if (options.size.empty()) return memory;
  const auto bytes = parse_bytes(options.size);
  constexpr std::uint64_t kLeast = 1 << 20;
  if (!bytes || *bytes < kLeast) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--size '{}' is no size from 1 MiB up", options.size),
                "write 256MiB, or leave it out");
  }
  memory.region_bytes = *bytes;
  return memory;
}

int probe(const ProbeCommandOptions& options) {
  const ProbeOptions memory = memory_options(options);
  if (!options.output.empty()) require_gnuplot();
  const HostLease lease("local");
  const TerminalStyle style = TerminalStyle::of(stderr);
  const MemoryProbe measured =
      probe_memory(lease.host().topology, memory,
                   [&](const std::string& stage) { print_transient(stderr, style, stage); });
  print_transient(stderr, style, "");
  std::optional<StorageProbe> storage;
  constexpr double kStorageSeconds = 10;
  if (!options.storage.empty()) storage = probe_storage(options.storage, kStorageSeconds);
  print(measured, storage);
  if (!options.database.empty()) {
    Store store = Store::open(options.database, Store::Mode::kReadWrite);
    const std::int64_t host_id =
        store.add_host({lease.host().snapshot.hostname, to_json(lease.host().snapshot),
                        lease.host().topology.xml()});
    add_probes(options.database, host_id, system_clock().wall_time(),
               records_of(measured, storage));
    fmt::print("stored with host {} in {}\n", host_id, options.database);
  }
  if (!options.output.empty()) draw(measured, options.output);
  return 0;
}

}  // namespace

void add_probe_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ProbeCommandOptions>();
  CLI::App* command = add_subcommand(
      app, "probe", "Measure latency and bandwidth from each node to each, and what cores share",
      "numabench probe --output results/probe --storage /var/tmp");
  command->add_option("--db", options->database, "Keep the figures in this results file");
  command->add_option("--output", options->output,
                      "Draw a heat map of each matrix into this folder");
  command->add_option("--storage", options->storage,
                      "Measure random reads in this folder, too, with fio");
  command->add_option("--size", options->size,
                      "Of the memory that is read and written (default: four times the largest "
                      "cache, from 64 MiB up to a 16th of a node)");
  command->add_option("--seconds", options->seconds, "Of each measurement, at least")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([options, &chosen] { chosen = [options] { return probe(*options); }; });
}

}  // namespace numabench
