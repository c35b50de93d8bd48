#include "workloads/workload.h"

#include <fmt/format.h>

#include "hosts/error.h"
#include "workloads/sql_workload.h"

namespace numabench {

SqlWorkload Workload::sql(const WorkloadSize&, int) const {
  throw Error(ErrorKind::kUsage, fmt::format("workload '{}' has no SQL form", name()),
              "use it with the embedded engine");
}

}  // namespace numabench
