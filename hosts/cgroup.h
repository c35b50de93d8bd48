// The limits that control groups put on this process, of either version.
#pragma once

#include <string>

namespace numabench {

/// A limit's file: "memory.max" in the one tree of version 2, and in the tree of a controller of
/// version 1 "memory.limit_in_bytes"; `v1_file` empty where version 1 has none.
struct CgroupFile {
  std::string v2_file;
  std::string controller;
  std::string v1_file;
};

struct CgroupLimit {
  std::string value;   ///< the kernel's text; "max" when no group limits
  std::string reason;  ///< why there is none
};

/// The nearest limit from our group upwards, of version 2 where that has the file, below `root`.
CgroupLimit cgroup_limit(const std::string& root, const CgroupFile& file);

}  // namespace numabench
