// What the doctor's sheet, which is stored with an experiment's host, says to a reader of tables.
#pragma once

#include <string>
#include <vector>

#include "reports/store.h"

namespace numabench {

struct HostFitness {
  bool looked_at = false;         ///< the store has a sheet that is not empty
  bool switched_off = false;      ///< it has an empty one: `host_checks: off`
  std::vector<std::string> red;   ///< "numa balancing: 1": not fit to publish
  std::vector<std::string> warn;  ///< may disturb
};

HostFitness read_host_fitness(const HostRecord& host);

/// "not fit to publish: …" for each red line, "may disturb: …" for all others, or that nobody
/// looked; empty for a fit host and for a store from before there were sheets.
std::vector<std::string> fitness_notes(const HostFitness& fitness);

}  // namespace numabench
