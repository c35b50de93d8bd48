// The workloads by name. Adding one: declare its entry here, and list it in registry.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/parameters.h"
#include "workloads/workload.h"

namespace numabench {

/// What each workload's file tells of it.
struct WorkloadEntry {
  std::string name;
  std::vector<ParameterSpec> parameters;
  std::unique_ptr<Workload> (*make)(const Parameters&);
};

WorkloadEntry zipfian_entry();
WorkloadEntry uniform_entry();
WorkloadEntry hotscan_entry();
WorkloadEntry seqscan_entry();
WorkloadEntry prewarm_entry();
WorkloadEntry script_entry();

}  // namespace numabench
