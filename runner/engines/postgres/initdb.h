// Making data directories, and what their control file says.
#pragma once

#include <string>

#include "hosts/user.h"
#include "runner/arms/arm_build.h"

namespace numabench {

/// What decides whether two servers can use the same data directory.
struct DataFormat {
  std::string catalog_version;  ///< "202209061"
  /// The labels and values of pg_controldata on versions, sizes and checksums, a line each.
  std::string description;

  bool operator==(const DataFormat&) const = default;
};

/// The options that initdb gets beside the directory, as they go into a dataset's key.
std::string initdb_options_text();

/// Makes `directory`, owned by `user`. Huge pages are left alone where initdb can (16 and later),
/// data checksums are off in all versions. Throws Error(kRun) with what initdb said.
void initialise(const ArmBuild& build, const User& user, const std::string& directory);

/// By pg_controldata. Throws Error(kRun).
DataFormat data_format(const ArmBuild& build, const User& user, const std::string& directory);

/// Makes sure that all files of a stopped server's `directory` are on the disk. Throws Error(kRun).
void sync_data(const ArmBuild& build, const User& user, const std::string& directory);

}  // namespace numabench
