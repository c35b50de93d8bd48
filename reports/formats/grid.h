// A comparison table as text cells: what the terminal and markdown formats have in common.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/comparison.h"

namespace numabench {

struct GridColumn {
  std::string heading;
  bool align_right = true;
  bool starts_group = true;  ///< false: belongs to the column before it, and stays beside it
  std::size_t gap = 2;       ///< blanks before it
};

struct GridRow {
  enum class Style { kPlain, kBaseline, kProblem };
  Style style = Style::kPlain;
  bool repeats_first = false;      ///< its first cell is that of the row above
  std::vector<std::string> cells;  ///< one a column, or only the labels when there is a message
  std::string message;             ///< in place of the cells behind the labels
};

struct Grid {
  std::string title;
  std::vector<std::string> subtitles;
  std::size_t label_columns = 0;  ///< the first columns, which say what the row is
  std::vector<GridColumn> columns;
  std::vector<GridRow> rows;
  std::vector<std::string> footnotes;
};

/// What stands for a value that does not exist.
inline constexpr const char* kAbsent = "–";

/// Median, min–max and, for throughputs, percent of the baseline, of each metric that any row of
/// the table has; the footnotes say why others are missing and give the warnings of the rows.
Grid table_grid(const Comparison& comparison, const ComparisonTable& table);

/// The table of the threads, one for each throughput: a row a workload, size and ratio, a column an
/// arm, in percent of the baseline with the raw median in brackets. Empty when there is one row
/// only, which its own table shows as well.
std::vector<Grid> overview_grids(const Comparison& comparison);

/// One for each table of a series of patches: a row a step, the conclusion below.
std::vector<Grid> series_grids(const Comparison& comparison);

/// How the arms were built, a row a patch, hashes shortened; the failed ones with the reason. Empty
/// when no arm has a build; two when two experiments are compared.
std::vector<Grid> arms_grids(const Comparison& comparison);

/// What was run, where and how, in a few lines of "name", "text"; nothing but chosen facts.
struct HeadingLine {
  std::string name;
  std::string text;
};
std::vector<HeadingLine> heading_lines(const Comparison& comparison);

/// The metric's title with its unit, where format_value() does not show it.
std::string column_heading(const Metric& metric);
/// "1,234.5", or "1.21 GiB/s" for metrics in bytes.
std::string format_value(double value, const Metric& metric);
/// "1,234–1,301", "3.5–3.93 GiB/s".
std::string format_range(double minimum, double maximum, const Metric& metric);
/// "99.1 %".
std::string format_percent(double percent);

}  // namespace numabench
