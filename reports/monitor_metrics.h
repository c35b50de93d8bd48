// What is sampled once a second while a window is measured, and what a run's one value of it is.
#pragma once

#include <string_view>
#include <vector>

#include "reports/metric.h"

namespace numabench {

/// How the samples of a window become the value of its run.
enum class Fold { kMean, kMinimum, kMaximum, kSum };

struct MonitorMetric {
  Metric metric;
  Fold fold = Fold::kMean;
};

/// Those without a number in their name, in the order reports list them; a part of
/// metric_catalogue().
const std::vector<MonitorMetric>& monitor_metrics();

/// A metric of each node: "memory_free_bytes_node<N>".
struct NodeMetric {
  std::string_view prefix;  ///< "memory_free_bytes_node"
  std::string_view unit;
  int decimals;
  std::string_view title;        ///< the node's number follows
  std::string_view description;  ///< the same, and a full stop
};
const std::vector<NodeMetric>& node_metrics();

/// Of any sampled metric; those of nodes have their mean.
Fold fold_of(std::string_view metric);

}  // namespace numabench
