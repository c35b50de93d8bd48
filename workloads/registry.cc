#include "workloads/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hosts/error.h"
#include "hosts/spelling.h"

namespace numabench {
namespace {

/// One line a workload, in the order in which they are listed to users.
std::vector<WorkloadEntry> entries() {
  std::vector<WorkloadEntry> all;
  all.push_back(zipfian_entry());
  all.push_back(uniform_entry());
  all.push_back(hotscan_entry());
  all.push_back(seqscan_entry());
  all.push_back(prewarm_entry());
  all.push_back(script_entry());
  return all;
}

WorkloadEntry entry(const std::string& name) {
  for (WorkloadEntry& known : entries()) {
    if (known.name == name) return std::move(known);
  }
  throw Error(ErrorKind::kUsage, fmt::format("there is no workload '{}'", name),
              suggest(name, workload_names()));
}

}  // namespace

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const WorkloadEntry& known : entries()) names.push_back(known.name);
  return names;
}

std::vector<ParameterSpec> workload_parameters(const std::string& name) {
  return entry(name).parameters;
}

std::unique_ptr<Workload> make_workload(const std::string& name, const ParameterValues& values) {
  const WorkloadEntry found = entry(name);
  return found.make(Parameters(name, found.parameters, values));
}

}  // namespace numabench
