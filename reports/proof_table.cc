#include "reports/proof_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "hosts/error.h"
#include "hosts/id_set.h"
#include "hosts/units.h"
#include "reports/formats/text_width.h"

namespace numabench {
namespace {

constexpr std::string_view kCpus = "cpus ";

/// "cpus 0-3, bind 0": the CPUs, and the text without them.
struct PlacementText {
  IdSet cpus;
  std::string rest;
};

PlacementText split(const std::string& text) {
  if (!text.starts_with(kCpus)) return {{}, text};
  // A list of ids has commas, but no blank after them.
  const auto end = std::min(text.find(", "), text.size());
  const auto cpus = parse_id_list(text.substr(kCpus.size(), end - kCpus.size()));
  if (!cpus) return {{}, text};
  return {*cpus, text.substr(end)};
}

/// Processes of one role that were seen alike.
struct Group {
  IdSet expected_cpus;
  IdSet observed_cpus;
  int processes = 0;
  int looks = 0;  ///< at the process that was looked at most
  std::optional<std::int64_t> migrations = 0;

  void add(const PlacementProofRecord& proof) {
    expected_cpus.merge(split(proof.expected).cpus);
    observed_cpus.merge(split(proof.observed).cpus);
    ++processes;
    looks = std::max(looks, proof.looks);
    if (migrations && proof.cpu_migrations) {
      *migrations += *proof.cpu_migrations;
    } else {
      migrations.reset();
    }
  }
};

/// What processes of a group have in common; those that have one CPU each share a group.
struct GroupKey {
  std::string role;
  std::string expected;  ///< without the CPUs when each has one
  std::string observed;
  bool each_has_one = false;
  std::string differs;

  auto operator<=>(const GroupKey&) const = default;
};

GroupKey key_of(const PlacementProofRecord& proof) {
  const PlacementText expected = split(proof.expected);
  const PlacementText observed = split(proof.observed);
  const bool each_has_one =
      proof.differs.empty() && expected.cpus.size() == 1 && observed.cpus.size() == 1;
  if (each_has_one) return {proof.role, expected.rest, observed.rest, true, ""};
  return {proof.role, proof.expected, proof.observed, false, proof.differs};
}

std::string text_of(const std::string& text, const IdSet& cpus, bool each_has_one) {
  if (!each_has_one) return text;
  const char* each = cpus.size() > 1 ? " (one each)" : "";
  return fmt::format("{}{}{}{}", kCpus, format_id_list(cpus), each, text);
}

using Row = std::vector<std::string>;

std::vector<Row> proof_rows(const std::vector<PlacementProofRecord>& proofs) {
  std::map<GroupKey, Group> groups;
  for (const PlacementProofRecord& proof : proofs) groups[key_of(proof)].add(proof);
  std::vector<Row> rows{
      {"role", "processes", "expected", "observed", "looks", "CPU migrations", ""}};
  for (const auto& [key, group] : groups) {
    rows.push_back({key.role, std::to_string(group.processes),
                    text_of(key.expected, group.expected_cpus, key.each_has_one),
                    text_of(key.observed, group.observed_cpus, key.each_has_one),
                    std::to_string(group.looks),
                    group.migrations ? format_count(static_cast<double>(*group.migrations)) : "–",
                    key.differs.empty() ? "" : "ELSEWHERE: " + key.differs});
  }
  return rows;
}

/// "before the window: node 0 512 MiB in 131,072 pages of 4 KiB, node 1 …"
std::string memory_line(const std::vector<PoolMemoryRecord>& memory,
                        PoolMemoryRecord::Moment moment) {
  std::string text;
  for (const PoolMemoryRecord& record : memory) {
    if (record.moment != moment) continue;
    text += fmt::format("{} node {} {} in {} pages of {}", text.empty() ? "" : ",", record.node,
                        format_bytes(static_cast<double>(record.pages * record.page_bytes)),
                        format_count(static_cast<double>(record.pages)),
                        format_bytes(static_cast<double>(record.page_bytes)));
  }
  return text.empty() ? " not known: the kernel does not tell" : text;
}

std::string layout(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  const auto is_number = [](std::size_t column) {
    return column == 1 || column == 4 || column == 5;
  };
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += "  " + pad(row[i], widths[i], is_number(i));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string run_block(const CellRecord& cell, const RunRecord& run) {
  std::string text = fmt::format(
      "{} · {} · {} · pool {} · ratio {} · {} clients · placement {} · "
      "run {}",
      cell.hash.substr(0, 8), cell.arm, cell.workload,
      format_bytes(static_cast<double>(cell.pool_bytes)), format_exact(cell.ratio), cell.clients,
      cell.placement, run.repetition);
  if (run.status != RunStatus::kOk) {
    text += fmt::format(" · {}: {}", to_string(run.status), run.reason);
  }
  text += "\n";
  if (run.placement_proofs.empty()) return text + "  no process was looked at\n";
  text += layout(proof_rows(run.placement_proofs));
  using Moment = PoolMemoryRecord::Moment;
  for (const Moment moment : {Moment::kBefore, Moment::kAfter}) {
    text += fmt::format("  pool {} the window:{}\n", to_string(moment),
                        memory_line(run.pool_memory, moment));
  }
  for (const PlacementProofRecord& proof : run.placement_proofs) {
    if (proof.cpu_migrations) continue;
    return text + fmt::format("  – CPU migrations: {}\n", proof.cpu_migrations_reason);
  }
  return text;
}

}  // namespace

std::string format_placement_proofs(const Store& store, std::int64_t experiment_id,
                                    const std::function<bool(const CellRecord&)>& wanted) {
  const auto experiment = store.experiment(experiment_id);
  if (!experiment) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} has no experiment {}", store.path(), experiment_id),
                "name one that status lists");
  }
  std::map<std::int64_t, CellRecord> cells;
  for (const CellRecord& cell : store.cells(experiment_id)) {
    if (!wanted || wanted(cell)) cells.emplace(cell.id, cell);
  }
  std::string text = fmt::format("Placement proofs of {}#{}, read back from the kernel\n",
                                 experiment->name, experiment_id);
  for (const RunRecord& run : store.runs(experiment_id)) {
    const auto cell = cells.find(run.cell_id);
    if (cell != cells.end()) text += "\n" + run_block(cell->second, run);
  }
  return text;
}

}  // namespace numabench
