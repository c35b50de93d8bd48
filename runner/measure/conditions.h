// What the void rules judge and no engine measures as such, worked out from a run's other values.
#pragma once

#include <vector>

#include "reports/metric.h"

namespace numabench {

/// What a cell asked for.
struct AskedConditions {
  bool huge_pages = false;       ///< of the whole pool
  double working_set_ratio = 0;  ///< as planned; 0: the tables are the user's, nothing was planned
  bool has_server = false;       ///< apart from the clients
};

/// working_set_off_pct, huge_pages_missing_bytes, load_generator_pct and finished_work; absent,
/// with the reason, where they do not apply or what they need was not measured.
std::vector<MetricValue> condition_values(const std::vector<MetricValue>& values,
                                          const AskedConditions& asked);

}  // namespace numabench
