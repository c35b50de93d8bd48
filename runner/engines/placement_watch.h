// What the kernel says of where the processes of a run are, beside what was asked for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hosts/placement.h"
#include "reports/store.h"

namespace numabench {

/// Looks at the processes of a run again and again and keeps a proof of each.
class PlacementWatch {
 public:
  /// A process that is gone is left out.
  void look(const std::string& role, pid_t pid, const Placement& expected);

  /// By role and pid.
  std::vector<PlacementProofRecord> records() const;
  /// The first process that was seen where it should not be; empty when none was.
  const std::string& escaped() const { return escaped_; }

 private:
  struct Seen {
    PlacementProofRecord proof;
    std::optional<std::int64_t> first_migrations;
  };
  std::map<std::pair<std::string, pid_t>, Seen> seen_;
  std::string escaped_;
};

}  // namespace numabench
