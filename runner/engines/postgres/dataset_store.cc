#include "runner/engines/postgres/dataset_store.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "hosts/error.h"
#include "hosts/files.h"
#include "hosts/system_error.h"
#include "hosts/tree_copy.h"
#include "hosts/units.h"
#include "reports/digest.h"
#include "runner/engines/postgres/dataset_load.h"
#include "runner/engines/postgres/relations.h"
#include "runner/engines/postgres/run_directory.h"
#include "runner/engines/postgres/server.h"
#include "runner/engines/postgres/stale_server.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::hours kLockPatience{1};
constexpr const char* kRecordName = "dataset.json";

std::string dataset_key(const DataFormat& format, const SqlWorkload& workload) {
  return sha256_hex(format.description + initdb_options_text() + "\n" +
                    dataset_description(workload));
}

void require_space(const std::string& directory, const SqlWorkload& workload) {
  struct statvfs filesystem {};
  if (::statvfs(directory.c_str(), &filesystem) != 0) throw_errno("statvfs of " + directory);
  const std::uint64_t free = filesystem.f_bavail * filesystem.f_frsize;
  const std::uint64_t needed = projected_bytes(workload);
  if (needed <= free) return;
  throw Error(ErrorKind::kPreflight,
              fmt::format("loading the data needs {} and {} are free in {}",
                          format_bytes(static_cast<double>(needed)),
                          format_bytes(static_cast<double>(free)), directory),
              "free some, choose a smaller pool or ratio, or set data_directory to a larger "
              "filesystem");
}

// A folder that may have been left by a process that was killed, and its servers.
void remove_data(const std::string& directory, const std::string& data_directory) {
  if (!fs::exists(directory)) return;
  clean_stale_server(data_directory);
  remove_tree(directory);
}

}  // namespace

/// What dataset.json says.
struct DatasetStore::Recorded {
  double load_seconds = 0;
  std::map<std::string, std::uint64_t> relation_bytes;

  static std::optional<Recorded> read(const std::string& directory) {
    const auto text = read_text_file(directory + "/" + kRecordName);
    if (!text) return std::nullopt;
    try {
      const Json json = Json::parse(*text);
      return Recorded{json.at("load_seconds").get<double>(),
                      json.at("relation_bytes").get<std::map<std::string, std::uint64_t>>()};
    } catch (const Json::exception& error) {
      throw Error(
          ErrorKind::kRun,
          fmt::format("the record of the dataset in {} is damaged: {}", directory, error.what()),
          "remove that folder; the data will be loaded again");
    }
  }

  void write(const std::string& directory, const DataFormat& format,
             const SqlWorkload& workload) const {
    const Json json{{"load_seconds", load_seconds},
                    {"relation_bytes", relation_bytes},
                    {"format", format.description},
                    {"contents", dataset_description(workload)}};
    std::ofstream file(directory + "/" + kRecordName);
    file << json.dump(2) << '\n';
    if (!file.flush()) throw_errno("writing the record of a dataset in " + directory);
  }

  std::uint64_t working_set_bytes(const SqlWorkload& workload) const {
    std::uint64_t bytes = 0;
    for (const std::string& table : workload.working_set) {
      const auto found = relation_bytes.find(table);
      if (found == relation_bytes.end()) {
        throw Error(ErrorKind::kRun,
                    fmt::format("the working set names the table '{}', which is not there", table),
                    "create it in the workload's setup");
      }
      bytes += found->second;
    }
    return bytes;
  }
};

DatasetStore::DatasetStore(std::string root, User user)
    : root_(std::move(root)), user_(std::move(user)) {}
DatasetStore::~DatasetStore() = default;

FileLock DatasetStore::lock(const std::string& name, const LoadObserver& observer) const {
  const SteadyClock::time_point start = SteadyClock::now();
  return FileLock(path(name) + ".lock", [&] {
    observer("waiting for another numabench that uses the dataset");
    if (SteadyClock::now() - start < kLockPatience) return;
    throw Error(ErrorKind::kPreflight,
                fmt::format("another numabench holds {}.lock for an hour", path(name)),
                "wait for its end, or set another data_directory");
  });
}

// The catalog version is in the control file of what a build's initdb makes, and nowhere else.
DataFormat DatasetStore::format_of(const ArmBuild& build, const LoadObserver& observer) {
  const std::string known_by = build.inputs.key + " " + build.bindir;
  if (const auto found = formats_.find(known_by); found != formats_.end()) return found->second;
  const FileLock held = lock("initdb", observer);
  const std::string directory = path("initdb");
  remove_tree(directory);
  make_directory_for(directory, user_);
  observer("initialising a data directory");
  initialise(build, user_, directory + "/data");
  const DataFormat format = data_format(build, user_, directory + "/data");
  remove_tree(directory);
  return formats_[known_by] = format;
}

DatasetStore::Recorded DatasetStore::fill(const std::string& directory, const ArmBuild& build,
                                          const SqlWorkload& workload,
                                          const LoadObserver& observer) const {
  const SteadyClock::time_point start = SteadyClock::now();
  ServerOptions options;
  options.postgres = build.postgres;
  options.library_directory = build.library_directory;
  options.data_directory = directory + "/data";
  options.settings = load_settings();
  options.user = user_;
  options.log_path = directory + "/load.log";

  observer("initialising a data directory");
  initialise(build, user_, options.data_directory);
  Server server = Server::start(options);
  Recorded recorded;
  {
    Connection connection = server.connect();
    load_dataset(connection, workload, observer);
    for (const auto& [table, relations] : relations_of_tables(connection)) {
      recorded.relation_bytes[table] = relations.bytes();
    }
  }
  server.stop();
  sync_data(build, user_, options.data_directory);
  recorded.load_seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
  return recorded;
}

void DatasetStore::load(const std::string& key, const ArmBuild& build, const SqlWorkload& workload,
                        const DataFormat& format, const LoadObserver& observer) const {
  const std::string partial = path(key) + ".partial";
  remove_data(partial, partial + "/data");
  require_space(path(""), workload);
  try {
    make_directory_for(partial, user_);
    const Recorded recorded = fill(partial, build, workload, observer);
    recorded.working_set_bytes(workload);  // throws for a table that is not there
    recorded.write(partial, format, workload);
    fs::rename(partial, path(key));
  } catch (...) {
    remove_data(partial, partial + "/data");
    throw;
  }
}

void DatasetStore::clone(LoadedDataset& dataset, const LoadObserver& observer) const {
  const std::string copy = path(dataset.key) + ".clone";
  remove_data(copy, copy);
  clean_stale_server(dataset.data_directory);  // that would go on writing
  observer("copying the data");
  copy_tree(dataset.data_directory, copy, [&](std::uint64_t bytes) {
    observer(fmt::format("copying the data, {} %", bytes * 100 / std::max(bytes, dataset.bytes)));
  });
  dataset.data_directory = copy;
  dataset.is_clone = true;
}

LoadedDataset DatasetStore::acquire(const ArmBuild& build, const SqlWorkload& workload,
                                    const LoadObserver& observer) {
  fs::create_directories(path(""));
  const DataFormat format = format_of(build, observer);
  LoadedDataset dataset;
  dataset.catalog_version = format.catalog_version;
  dataset.key = dataset_key(format, workload);
  if (locks_.contains(dataset.key)) {
    throw Error(ErrorKind::kInternal, "a dataset was acquired twice without a release");
  }
  FileLock held = lock(dataset.key, observer);
  const std::string directory = path(dataset.key);
  const bool is_new = !fs::exists(directory);
  if (is_new) load(dataset.key, build, workload, format, observer);
  const auto recorded = Recorded::read(directory);
  if (!recorded) {
    throw Error(ErrorKind::kRun, fmt::format("{} has no {}", directory, kRecordName),
                "remove that folder; the data will be loaded again");
  }
  dataset.data_directory = directory + "/data";
  dataset.load_seconds = is_new ? recorded->load_seconds : 0;
  dataset.working_set_bytes = recorded->working_set_bytes(workload);
  dataset.bytes = tree_bytes(dataset.data_directory);
  if (workload.writes) clone(dataset, observer);
  locks_.emplace(dataset.key, std::move(held));
  return dataset;
}

void DatasetStore::release(const LoadedDataset& dataset) {
  const auto held = locks_.find(dataset.key);
  if (held == locks_.end()) return;
  if (dataset.is_clone) remove_data(dataset.data_directory, dataset.data_directory);
  locks_.erase(held);
}

}  // namespace numabench
