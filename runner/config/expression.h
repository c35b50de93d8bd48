// Values that name the topology: "2 * cpus", "25% memory", "memory / 4", "512MiB".
//
//   sum     = product { ("+" | "-") product }
//   product = operand { ("*" | "/") operand }
//   operand = "(" sum ")" | number "%" ["of"] operand | number | size | name
//   name    = cpus | cores | nodes | packages | memory
//
// Names count what this process may use: allowed CPUs, the cores, packages and nodes they are in,
// and the bytes of the allowed nodes.
#pragma once

#include <string_view>

#include "hosts/topology.h"

namespace numabench {

/// A value and its dimension: bytes can be added to bytes and scaled by counts, never mixed up.
struct Quantity {
  double amount = 0;
  bool bytes = false;  ///< else a count
};

/// Throws Error(kUsage) without a place; the problem quotes `text` where that helps.
Quantity evaluate_expression(std::string_view text, const Topology& topology);

/// Whether `text` is a number or size that reads the same on every host.
bool is_literal(std::string_view text);

}  // namespace numabench
