#include <fmt/format.h>

#include "reports/formats/grid.h"
#include "reports/formats/judgement_text.h"
#include "reports/formats/text_width.h"

namespace numabench {
namespace {

constexpr std::size_t kReasonLimit = 100;

GridRow step_row(const SeriesStep& step, const Metric& metric, bool is_start) {
  GridRow row;
  row.cells = {step.arm, is_start ? kAbsent : step.patch};
  if (!step.summary) {
    row.style = GridRow::Style::kProblem;
    row.message = one_line(step.reason, kReasonLimit);
    return row;
  }
  row.cells.push_back(format_value(step.summary->median, metric));
  row.cells.push_back(format_range(step.summary->minimum, step.summary->maximum, metric));
  row.cells.push_back(step.ratio_to_step_before ? fmt::format("{:.2f}", *step.ratio_to_step_before)
                                                : kAbsent);
  row.cells.push_back(step.judgement ? paired_ratio_text(step.judgement->difference) : kAbsent);
  if (is_start) {
    row.cells.emplace_back("start");
  } else {
    row.cells.push_back(step.judgement ? step.judgement->verdict.text() : kAbsent);
  }
  return row;
}

}  // namespace

std::vector<Grid> series_grids(const Comparison& comparison) {
  std::vector<Grid> grids;
  for (const SeriesTable& table : comparison.series) {
    const Metric& metric = *find_metric(table.metric);
    Grid& grid = grids.emplace_back();
    grid.title = table.title;
    grid.label_columns = 2;
    grid.columns = {{"arm", false},           {"last patch", false},
                    {column_heading(metric)}, {"min–max", true, false, 1},
                    {"× step before"},        {"in pairs (95 %)", true, false},
                    {"verdict", false}};
    for (const SeriesStep& step : table.steps) {
      grid.rows.push_back(step_row(step, metric, &step == &table.steps.front()));
    }
    grid.footnotes.push_back(table.conclusion);
  }
  return grids;
}

}  // namespace numabench
