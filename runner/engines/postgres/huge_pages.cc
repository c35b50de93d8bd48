#include "hosts/huge_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hosts/error.h"
#include "hosts/units.h"
#include "runner/engines/postgres/postgres_command.h"

namespace numabench {
namespace {

std::uint64_t available_on(const IdSet& nodes, const HugePageCounts& pages) {
  if (nodes.empty()) return pages.available;
  std::uint64_t free = 0;
  for (const int node : nodes) free += free_huge_pages_of_node(node).value_or(0);
  return std::min(free, pages.available);
}

}  // namespace

std::optional<std::uint64_t> huge_pages_needed(const ServerOptions& options) {
  std::vector<std::string> arguments = postgres_arguments(options);
  arguments.insert(arguments.begin() + 1, {"-C", "shared_memory_size_in_huge_pages"});
  const CommandResult result = run_command(arguments, postgres_command_options(options));
  if (!result.ok()) return std::nullopt;
  // "-1" where the host has none.
  std::uint64_t pages = 0;
  const char* end = result.out.data() + result.out.size();
  const auto [rest, error] = std::from_chars(result.out.data(), end, pages);
  if (error != std::errc() || rest == end || *rest != '\n') return std::nullopt;
  return pages;
}

std::string definite_huge_pages(const std::string& wanted, std::optional<std::uint64_t> needed,
                                const IdSet& nodes) {
  if (wanted == "off") return "off";
  const HugePageCounts pages = count_huge_pages();
  const std::uint64_t available = available_on(nodes, pages);
  const bool suffice = needed && available >= *needed;
  if (wanted == "try") return suffice ? "on" : "off";
  if (suffice || (!needed && pages.total > 0)) return "on";
  const std::string where = nodes.empty() ? "" : " on nodes " + format_id_list(nodes);
  const std::string remedy =
      nodes.empty()
          ? fmt::format("sysctl -w vm.nr_hugepages={}",
                        pages.total - pages.available + needed.value_or(0))
          : fmt::format(
                "reserve {} more there (/sys/devices/system/node/node{}/hugepages), or use "
                "the preferred policy",
                needed.value_or(0) - available, *nodes.begin());
  throw Error(ErrorKind::kPreflight,
              fmt::format("huge_pages is on, but {} huge pages of {} are free{} where the server "
                          "needs {}",
                          available, format_bytes(static_cast<double>(pages.page_bytes)), where,
                          needed ? std::to_string(*needed) : "some"),
              needed ? remedy : "set vm.nr_hugepages");
}

}  // namespace numabench
