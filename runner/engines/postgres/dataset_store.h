// Data directories: initialised and loaded once, then shared by all arms of a catalog version.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hosts/user.h"
#include "runner/arms/arm_build.h"
#include "runner/arms/file_lock.h"
#include "runner/engines/postgres/initdb.h"
#include "workloads/sql_workload.h"

namespace numabench {

/// A loaded data directory.
struct LoadedDataset {
  std::string data_directory;
  std::string key;  ///< SHA-256 of catalog version, initdb options, tables and setup
  std::string catalog_version;
  bool is_clone = false;  ///< for this run alone: the workload writes
  std::uint64_t working_set_bytes =
      0;                    ///< measured: pg_relation_size of tables, indexes, partitions
  std::uint64_t bytes = 0;  ///< of the whole data directory
  double load_seconds = 0;  ///< 0 when it was there already
};

/// Bytes that pg_relation_size will say of the tables and their primary keys; what `setup` makes is
/// not known. From the arithmetic of workloads/accounts.h.
std::uint64_t projected_relation_bytes(const SqlWorkload& workload);

/// Bytes that loading these tables takes on disk at its peak: projected_relation_bytes() and what
/// lies beside them, an empty cluster, its WAL, and the sort of a primary key that does not fit
/// into memory.
std::uint64_t projected_bytes(const SqlWorkload& workload);

/// Canonical text of what a workload's data are: its tables and setup. Workloads with equal texts
/// share a dataset.
std::string dataset_description(const SqlWorkload& workload);

/// "loading pgbench_accounts, 41 %"
using LoadObserver = std::function<void(const std::string& stage)>;

class DatasetStore {
 public:
  /// Datasets lie in `root`/datasets/KEY, owned by `user`; `root` is there, and `user` may enter it
  /// (prepare_data_root).
  DatasetStore(std::string root, User user);
  ~DatasetStore();  ///< of what was not released, the locks are let go and clones stay

  /// The dataset for `workload` on `build`'s server: found, or initialised and loaded: COPY with
  /// FREEZE in order of aid, primary keys, setup, the extensions pg_buffercache and pg_prewarm, the
  /// function numabench_clock(), VACUUM ANALYZE. The function is looked for when it is called, in
  /// dynamic_library_path. A dataset is made under a temporary name and renamed when complete: one
  /// that was interrupted is made again. A workload that writes gets a clone.
  ///
  /// Until release() the dataset is locked: a second process that wants it waits, up to an hour.
  /// Throws Error(kPreflight), before loading, when its projected size exceeds the free space, and
  /// Error(kRun) for what initdb and the server refuse. What `observer` throws ends the loading.
  LoadedDataset acquire(const ArmBuild& build, const SqlWorkload& workload,
                        const LoadObserver& observer);
  /// Removes a clone and lets others have the dataset. Nothing when it was released already.
  void release(const LoadedDataset& dataset);

 private:
  struct Recorded;

  std::string path(const std::string& name) const { return root_ + "/datasets/" + name; }
  FileLock lock(const std::string& name, const LoadObserver& observer) const;
  DataFormat format_of(const ArmBuild& build, const LoadObserver& observer);
  void load(const std::string& key, const ArmBuild& build, const SqlWorkload& workload,
            const DataFormat& format, const LoadObserver& observer) const;
  Recorded fill(const std::string& directory, const ArmBuild& build, const SqlWorkload& workload,
                const LoadObserver& observer) const;
  void clone(LoadedDataset& dataset, const LoadObserver& observer) const;

  std::string root_;
  User user_;
  std::map<std::string, DataFormat> formats_;  ///< by the keys of builds that were asked
  std::map<std::string, FileLock> locks_;      ///< of what is acquired, by key
};

}  // namespace numabench
