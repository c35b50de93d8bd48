#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "hosts/units.h"
#include "reports/formats/grid.h"
#include "reports/formats/judgement_text.h"
#include "reports/formats/text_width.h"

namespace numabench {
namespace {

constexpr std::size_t kReasonLimit = 200;  // columns; exports have the whole text

/// A column and how to fill it.
struct ColumnSource {
  GridColumn column;
  std::function<std::string(const ComparisonRow&)> text;
};

/// Warnings of the rows of one table, numbered as they first come up; those that differ in numbers
/// only share one.
class Footnotes {
 public:
  /// The numbers of the row's warnings as " [1,2]"; empty when it has none.
  std::string mark(const std::vector<std::string>& warnings) {
    if (warnings.empty()) return "";
    std::vector<std::size_t> numbers;
    for (const std::string& warning : warnings) numbers.push_back(number_of(warning));
    return fmt::format(" [{}]", fmt::join(numbers, ","));
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const Note& note : notes_) {
      lines.push_back(fmt::format("[{}] {}{}", lines.size() + 1, one_line(note.text, kReasonLimit),
                                  note.varies ? " (and alike, with other numbers)" : ""));
    }
    return lines;
  }

 private:
  struct Note {
    std::string text;
    bool varies = false;
  };
  std::size_t number_of(const std::string& text) {
    const auto found = std::find_if(notes_.begin(), notes_.end(), [&](const Note& note) {
      return warning_kind(note.text) == warning_kind(text);
    });
    if (found == notes_.end()) {
      notes_.push_back({text});
      return notes_.size();
    }
    found->varies = found->varies || found->text != text;
    return static_cast<std::size_t>(found - notes_.begin()) + 1;
  }
  std::vector<Note> notes_;
};

template <typename Property>
bool any_row(const ComparisonTable& table, Property has_property) {
  return std::any_of(table.rows.begin(), table.rows.end(), has_property);
}

bool has_value(const ComparisonTable& table, const std::string& metric) {
  return any_row(table, [&](const ComparisonRow& row) {
    const ComparisonValue* value = row.find(metric);
    return value != nullptr && value->summary;
  });
}

bool pools_differ(const ComparisonTable& table) {
  return any_row(table, [&](const ComparisonRow& row) {
    return row.cell.pool_bytes != table.rows.front().cell.pool_bytes;
  });
}

std::string spread_text(const Summary& summary, const Metric& metric) {
  if (summary.n == 1) return "one run";
  return format_range(summary.minimum, summary.maximum, metric);
}

std::string percent_text(const ComparisonRow& row, const ComparisonValue& value) {
  if (row.is_baseline) return "baseline";
  return value.percent_of_baseline ? format_percent(*value.percent_of_baseline) : kAbsent;
}

std::vector<ColumnSource> label_columns(const ComparisonTable& table, Footnotes& footnotes) {
  const auto left = [](const char* heading) { return GridColumn{heading, false, true}; };
  std::vector<ColumnSource> columns;
  columns.push_back(
      {{"ratio"}, [](const ComparisonRow& row) { return format_exact(row.cell.ratio); }});
  if (pools_differ(table)) {
    columns.push_back({{"pool"}, [](const ComparisonRow& row) {
                         return format_bytes(static_cast<double>(row.cell.pool_bytes));
                       }});
  }
  columns.push_back({left("arm"), [&footnotes](const ComparisonRow& row) {
                       return row.cell.arm + footnotes.mark(row.warnings);
                     }});
  if (any_row(table, [](const ComparisonRow& row) { return !row.side.empty(); })) {
    columns.push_back({left("side"), [](const ComparisonRow& row) { return row.side; }});
  }
  if (any_row(table, [](const ComparisonRow& row) { return row.runs_ok != row.runs_planned; })) {
    columns.push_back({left("runs"), [](const ComparisonRow& row) {
                         if (row.runs_ok == row.runs_planned) return fmt::to_string(row.runs_ok);
                         return fmt::format("{} of {}", row.runs_ok, row.runs_planned);
                       }});
  }
  return columns;
}

bool is_judged(const ComparisonTable& table, const std::string& metric) {
  return any_row(table, [&](const ComparisonRow& row) {
    const ComparisonValue* value = row.find(metric);
    return value != nullptr && value->judgement;
  });
}

/// The words of a table's verdict, with the reason of an open one below the table.
std::string verdict_text(const ComparisonRow& row, const ComparisonValue& value,
                         Footnotes& footnotes) {
  if (row.is_baseline) return "";
  if (!value.judgement) return kAbsent;
  const Verdict& verdict = value.judgement->verdict;
  std::string text = short_verdict(*value.judgement, row.is_copy);
  if (!verdict.reason.empty()) text += footnotes.mark({verdict.text()});
  return text;
}

void add_metric_columns(std::vector<ColumnSource>& columns, const Metric& metric,
                        const std::string& baseline, const std::string& ratio_heading,
                        Footnotes* judged) {
  const auto add = [&](GridColumn column, auto text_of) {
    columns.push_back({std::move(column), [name = metric.name, text_of](const ComparisonRow& row) {
                         const ComparisonValue* value = row.find(name);
                         if (value == nullptr || !value->summary) return std::string(kAbsent);
                         return text_of(row, *value);
                       }});
  };
  add({column_heading(metric)}, [metric](const ComparisonRow&, const ComparisonValue& value) {
    return format_value(value.summary->median, metric);
  });
  add({"min–max", true, false, 1}, [metric](const ComparisonRow&, const ComparisonValue& value) {
    return spread_text(*value.summary, metric);
  });
  if (is_throughput(metric)) add({"vs " + baseline, true, false}, percent_text);
  if (judged == nullptr) return;
  // A group of its own: where the page is narrow it is folded away from the medians, hence the
  // name.
  add({metric.title + ratio_heading},
      [](const ComparisonRow& row, const ComparisonValue& value) -> std::string {
        if (row.is_baseline) return "";
        return value.judgement ? paired_ratio_text(value.judgement->difference) : kAbsent;
      });
  add({"verdict", false, false}, [judged](const ComparisonRow& row, const ComparisonValue& value) {
    return verdict_text(row, value, *judged);
  });
}

GridRow make_grid_row(const std::vector<ColumnSource>& columns, std::size_t labels,
                      const ComparisonRow& row) {
  GridRow result;
  const std::size_t count = row.problem.empty() ? columns.size() : labels;
  for (std::size_t i = 0; i < count; ++i) result.cells.push_back(columns[i].text(row));
  if (!row.problem.empty()) {
    result.style = GridRow::Style::kProblem;
    result.message = one_line(row.problem, kReasonLimit);
  } else if (row.is_baseline) {
    result.style = GridRow::Style::kBaseline;
  }
  return result;
}

/// One line for each reason, naming all metrics that it kept from being measured.
std::vector<std::string> missing_values(const Comparison& comparison,
                                        const ComparisonTable& table) {
  std::vector<std::pair<std::string, std::vector<std::string>>> titles_by_reason;
  const auto titles_for = [&](const std::string& reason) -> std::vector<std::string>& {
    for (auto& [known, titles] : titles_by_reason) {
      if (known == reason) return titles;
    }
    return titles_by_reason.emplace_back(reason, std::vector<std::string>{}).second;
  };
  for (const std::string& metric : comparison.metrics) {
    for (const ComparisonRow& row : table.rows) {
      const ComparisonValue* value = row.find(metric);
      if (!row.problem.empty() || value == nullptr || value->summary) continue;
      std::vector<std::string>& titles = titles_for(value->reason);
      const std::string& title = find_metric(metric)->title;
      if (titles.empty() || titles.back() != title) titles.push_back(title);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [reason, titles] : titles_by_reason) {
    lines.push_back(fmt::format("not measured: {} ({})", fmt::join(titles, ", "),
                                one_line(reason, kReasonLimit)));
  }
  return lines;
}

}  // namespace

Grid table_grid(const Comparison& comparison, const ComparisonTable& table) {
  Grid grid;
  grid.title = table.title;
  const std::string& parameters = table.rows.front().cell.workload_parameters;
  if (!parameters.empty()) grid.subtitles.push_back(one_line(parameters, kReasonLimit));

  Footnotes footnotes;
  std::vector<ColumnSource> columns = label_columns(table, footnotes);
  grid.label_columns = columns.size();
  for (const std::string& metric : comparison.metrics) {
    if (!has_value(table, metric)) continue;
    const bool judged =
        std::ranges::count(comparison.judged_metrics, metric) > 0 && is_judged(table, metric);
    add_metric_columns(columns, *find_metric(metric), comparison.baseline_arm,
                       comparison.before ? " ratio (95 %)" : " in pairs (95 %)",
                       judged ? &footnotes : nullptr);
  }
  for (const ColumnSource& source : columns) grid.columns.push_back(source.column);

  const ComparisonRow* above = nullptr;
  for (const ComparisonRow& row : table.rows) {
    GridRow& added = grid.rows.emplace_back(make_grid_row(columns, grid.label_columns, row));
    added.repeats_first = above != nullptr && above->cell.ratio == row.cell.ratio;
    above = &row;
  }
  grid.footnotes = footnotes.lines();
  for (std::string& line : missing_values(comparison, table)) {
    grid.footnotes.push_back(std::move(line));
  }
  return grid;
}

}  // namespace numabench
