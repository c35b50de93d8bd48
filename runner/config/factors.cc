#include "runner/config/factors.h"

#include <fmt/format.h>

#include <cmath>

#include "hosts/error.h"
#include "hosts/units.h"
#include "runner/config/expression.h"
#include "runner/config/yaml_reader.h"
#include "workloads/dataset.h"

namespace numabench {
namespace {

/// PostgreSQL's lower limit of shared_buffers.
constexpr std::uint64_t kLeastBuffers = 16;
/// PostgreSQL's MAX_BACKENDS: what the refcount of a buffer's state can hold.
constexpr int kMostClients = (1 << 18) - 1;
/// 2^53: up to here a double holds every whole number of bytes.
constexpr double kMostBytes = 9007199254740992.0;

Placed<Quantity> read_quantity(const YamlNode& node, const std::string& what,
                               const Topology& topology) {
  const std::string text = read_scalar(node, what);
  Placed<Quantity> result{{}, node.origin};
  with_place(node.origin, [&] { result.value = evaluate_expression(text, topology); });
  if (!is_literal(text)) result.origin.expression = text;
  return result;
}

/// "'2 * cpus' (4 on this host)" or "'4.5'"
std::string shown(const YamlNode& node, const Placed<Quantity>& quantity) {
  if (quantity.origin.expression.empty()) return quoted(node.text);
  const double amount = quantity.value.amount;
  return fmt::format("'{}' ({} on this host)", node.text,
                     quantity.value.bytes ? format_bytes(amount) : format_exact(amount));
}

}  // namespace

std::string factor_name(std::size_t factor, Hold hold) {
  switch (factor) {
    case kWorkload:
      return "workload";
    case kRegime:
      return "regime";
    case kPlacement:
      return "placement";
    case kSize:
      return hold == Hold::kPool ? "pool" : "working_set";
    case kRatio:
      return "ratio";
    case kClients:
      return "clients";
    default:
      return "arm";
  }
}

std::string factor_list_name(std::size_t factor, Hold hold) {
  const std::string name = factor_name(factor, hold);
  return factor == kClients ? name : name + "s";
}

std::vector<std::string> factor_list_names(Hold hold) {
  std::vector<std::string> names;
  for (std::size_t factor = 0; factor < kFactors; ++factor) {
    names.push_back(factor_list_name(factor, hold));
  }
  return names;
}

std::array<std::size_t, kFactors> FactorLists::lengths() const {
  std::array<std::size_t, kFactors> result{};
  result[kWorkload] = workloads.size();
  result[kRegime] = regimes.size();
  result[kPlacement] = placements.size();
  result[kSize] = sizes.size();
  result[kRatio] = ratios.size();
  result[kClients] = clients.size();
  result[kArm] = arms.size();
  return result;
}

Placed<std::uint64_t> read_size(const YamlNode& node, const std::string& what,
                                const Topology& topology) {
  const Placed<Quantity> quantity = read_quantity(node, what, topology);
  if (!quantity.value.bytes && quantity.origin.expression.empty()) {
    config_error(node.origin, fmt::format("{} {} has no unit", what, shown(node, quantity)),
                 fmt::format("write its unit, such as {}MiB", node.text));
  }
  if (!quantity.value.bytes) {
    config_error(node.origin,
                 fmt::format("{} {} is a count, not a size", what, shown(node, quantity)),
                 "write a size such as 4GiB, or a part of memory such as 25% memory");
  }
  if (quantity.value.amount < 1 || quantity.value.amount > kMostBytes) {
    config_error(node.origin, fmt::format("{} {} is no size", what, shown(node, quantity)),
                 "write a size above zero, such as 4GiB");
  }
  return {static_cast<std::uint64_t>(quantity.value.amount), quantity.origin};
}

Placed<double> read_ratio(const YamlNode& node) {
  const double ratio = read_number(node, "a ratio");
  if (ratio <= 0) {
    config_error(node.origin, fmt::format("a ratio cannot be {}", node.text),
                 "write working set ÷ pool, such as 1.15");
  }
  return {ratio, node.origin};
}

Placed<Regime> read_regime(const YamlNode& node) {
  const std::vector<std::string> words{to_string(Regime::kNone), to_string(Regime::kResident),
                                       to_string(Regime::kPageCache), to_string(Regime::kRealIo)};
  return {static_cast<Regime>(read_choice(node, "'regime'", words)), node.origin};
}

Placed<int> read_clients(const YamlNode& node, const Topology& topology) {
  const Placed<Quantity> quantity = read_quantity(node, "'clients'", topology);
  const double amount = quantity.value.amount;
  if (quantity.value.bytes || std::floor(amount) != amount || amount < 1 || amount > kMostClients) {
    config_error(node.origin, fmt::format("'clients' cannot be {}", shown(node, quantity)),
                 fmt::format("write a whole number from 1 to {}, or an expression such as 2 * cpus",
                             kMostClients));
  }
  return {static_cast<int>(amount), quantity.origin};
}

std::uint64_t whole_pool(double bytes, const Origin& where) {
  const auto pages = static_cast<std::uint64_t>(bytes / static_cast<double>(kPageBytes));
  if (pages < kLeastBuffers) {
    config_error(where, fmt::format("a pool of {} is too small", format_bytes(bytes)),
                 fmt::format("use at least {}, as PostgreSQL does",
                             format_bytes(static_cast<double>(kLeastBuffers * kPageBytes))));
  }
  return pages * kPageBytes;
}

}  // namespace numabench
