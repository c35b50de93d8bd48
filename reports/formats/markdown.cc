#include "reports/formats/formats.h"
#include "reports/formats/grid.h"

namespace numabench {
namespace {

/// Names and reasons are text, whatever is in them.
std::string escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string("\\`*_[]<>|").find(c) != std::string::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string table_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

/// A table cannot have cells that flow over others: a message takes the first column behind the
/// labels.
std::vector<std::string> cells_of(const Grid& grid, const GridRow& row) {
  std::vector<std::string> cells;
  for (const std::string& cell : row.cells) cells.push_back(escape(cell));
  if (!row.message.empty() && cells.size() < grid.columns.size()) {
    cells.push_back(escape(row.message));
  }
  cells.resize(grid.columns.size(), kAbsent);
  return cells;
}

std::string render_grid(const Grid& grid) {
  std::string text = "\n## " + escape(grid.title) + "\n\n";
  for (const std::string& subtitle : grid.subtitles) text += escape(subtitle) + "\n\n";
  std::vector<std::string> headings;
  std::vector<std::string> rule;
  for (const GridColumn& column : grid.columns) {
    headings.push_back(escape(column.heading));
    rule.push_back(column.align_right ? "---:" : ":---");
  }
  text += table_line(headings) + table_line(rule);
  for (const GridRow& row : grid.rows) text += table_line(cells_of(grid, row));
  for (const std::string& footnote : grid.footnotes) text += "\n" + escape(footnote) + "\n";
  return text;
}

}  // namespace

std::string render_markdown(const Comparison& comparison, const FormatOptions&) {
  std::string text = "# " + escape(comparison.experiment.name) + "\n\n";
  for (const HeadingLine& line : heading_lines(comparison)) {
    text += "- " + line.name + ": " + escape(line.text) + "\n";
  }
  for (const Grid& grid : series_grids(comparison)) text += render_grid(grid);
  for (const Grid& grid : overview_grids(comparison)) text += render_grid(grid);
  for (const ComparisonTable& table : comparison.tables) {
    text += render_grid(table_grid(comparison, table));
  }
  for (const Grid& grid : arms_grids(comparison)) text += render_grid(grid);
  return text;
}

}  // namespace numabench
