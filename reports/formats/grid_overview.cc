#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "hosts/units.h"
#include "reports/formats/grid.h"

namespace numabench {
namespace {

/// The rows of one table and ratio: one row of the overview.
using Group = std::vector<const ComparisonRow*>;

std::vector<Group> groups_of(const Comparison& comparison) {
  std::vector<Group> groups;
  for (const ComparisonTable& table : comparison.tables) {
    const ComparisonRow* above = nullptr;
    for (const ComparisonRow& row : table.rows) {
      if (above == nullptr || above->cell.ratio != row.cell.ratio) groups.emplace_back();
      groups.back().push_back(&row);
      above = &row;
    }
  }
  return groups;
}

/// The arms of all groups, baseline first as in the groups themselves.
std::vector<std::string> arms_of(const std::vector<Group>& groups) {
  std::vector<std::string> arms;
  for (const Group& group : groups) {
    for (const ComparisonRow* row : group) {
      if (std::find(arms.begin(), arms.end(), row->cell.arm) == arms.end()) {
        arms.push_back(row->cell.arm);
      }
    }
  }
  return arms;
}

/// A factor that can be a label; shown where it differs between the groups.
struct Label {
  GridColumn column;
  std::function<std::string(const CellRecord&)> text;
};

std::vector<Label> labels_for(const std::vector<Group>& groups) {
  const std::vector<Label> all = {
      {{"workload", false}, [](const CellRecord& cell) { return cell.workload; }},
      {{"pool"},
       [](const CellRecord& cell) { return format_bytes(static_cast<double>(cell.pool_bytes)); }},
      {{"clients"}, [](const CellRecord& cell) { return fmt::to_string(cell.clients); }},
      {{"placement", false}, [](const CellRecord& cell) { return cell.placement; }},
      {{"regime", false}, [](const CellRecord& cell) { return cell.regime; }},
      {{"ratio"}, [](const CellRecord& cell) { return format_exact(cell.ratio); }},
  };
  std::vector<Label> shown;
  for (const Label& label : all) {
    const std::string first = label.text(groups.front().front()->cell);
    const bool differs = std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
      return label.text(group.front()->cell) != first;
    });
    if (differs || label.column.heading == "workload") shown.push_back(label);
  }
  return shown;
}

std::string median_text(const ComparisonRow& row, const Metric& metric) {
  if (!row.problem.empty()) return row.problem.substr(0, row.problem.find(':'));
  const ComparisonValue* value = row.find(metric.name);
  if (value == nullptr || !value->summary) return kAbsent;
  return format_value(value->summary->median, metric);
}

/// "99.1 % (657,125)"; the median alone for the baseline and where there is no baseline to refer
/// to.
std::string arm_text(const ComparisonRow& row, const Metric& metric) {
  const ComparisonValue* value = row.find(metric.name);
  const std::string median = median_text(row, metric);
  if (value == nullptr || !value->percent_of_baseline) return median;
  return fmt::format("{} ({})", format_percent(*value->percent_of_baseline), median);
}

/// "99.1 % (663,084 → 657,125)", of the two rows of an arm in two experiments.
std::string change_text(const ComparisonRow& before, const ComparisonRow& after,
                        const Metric& metric) {
  const ComparisonValue* value = after.find(metric.name);
  const std::string change = median_text(before, metric) + " → " + median_text(after, metric);
  if (value == nullptr || !value->percent_of_baseline) return change;
  return fmt::format("{} ({})", format_percent(*value->percent_of_baseline), change);
}

std::string cell_text(const Group& group, const std::string& arm, const Metric& metric) {
  std::vector<const ComparisonRow*> rows;
  std::copy_if(group.begin(), group.end(), std::back_inserter(rows),
               [&](const ComparisonRow* row) { return row->cell.arm == arm; });
  if (rows.empty()) return kAbsent;
  return rows.size() == 1 ? arm_text(*rows[0], metric) : change_text(*rows[0], *rows[1], metric);
}

bool has_metric(const Group& group, const std::string& metric) {
  return std::any_of(group.begin(), group.end(), [&](const ComparisonRow* row) {
    const ComparisonValue* value = row->find(metric);
    return value != nullptr && value->summary;
  });
}

Grid make_overview(const std::vector<Group>& groups, const Metric& metric,
                   const std::string& baseline) {
  const std::vector<Label> labels = labels_for(groups);
  const std::vector<std::string> arms = arms_of(groups);
  Grid grid;
  grid.title = fmt::format("{} in percent of {} (medians)", metric.title, baseline);
  grid.label_columns = labels.size();
  for (const Label& label : labels) grid.columns.push_back(label.column);
  for (const std::string& arm : arms) grid.columns.push_back({arm});
  for (const Group& group : groups) {
    GridRow& row = grid.rows.emplace_back();
    for (const Label& label : labels) row.cells.push_back(label.text(group.front()->cell));
    for (const std::string& arm : arms) row.cells.push_back(cell_text(group, arm, metric));
    row.repeats_first =
        grid.rows.size() > 1 && grid.rows[grid.rows.size() - 2].cells[0] == row.cells[0];
  }
  return grid;
}

}  // namespace

std::vector<Grid> overview_grids(const Comparison& comparison) {
  std::vector<Grid> grids;
  const std::vector<Group> groups = groups_of(comparison);
  for (const std::string& name : comparison.metrics) {
    const Metric& metric = *find_metric(name);
    if (!is_throughput(metric)) continue;
    std::vector<Group> measured;
    std::copy_if(groups.begin(), groups.end(), std::back_inserter(measured),
                 [&](const Group& group) { return has_metric(group, name); });
    if (measured.size() < 2) continue;
    grids.push_back(make_overview(measured, metric, comparison.baseline_arm));
  }
  return grids;
}

}  // namespace numabench
