// Which mounted filesystem holds a path, and how it is mounted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace numabench {

struct Mount {
  std::string point;
  std::string type;     ///< "xfs", "nfs4"
  std::string source;   ///< "/dev/nvme1n1", "server:/export"
  std::string options;  ///< of the mount and of the filesystem: "rw,noatime,attr2"
};

/// The mount with the longest path above `path`, an absolute one without "..", in the text of a
/// /proc/PID/mountinfo; of two mounts on one point the later covers the earlier.
std::optional<Mount> mount_of(const std::string& path, std::string_view mountinfo);

}  // namespace numabench
