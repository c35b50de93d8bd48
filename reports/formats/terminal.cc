#include <algorithm>
#include <utility>

#include "reports/formats/formats.h"
#include "reports/formats/grid.h"
#include "reports/formats/text_width.h"

namespace numabench {
namespace {

constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kReset = "\x1b[0m";
constexpr std::size_t kMessageGap = 2;  // blanks before a message

class Page {
 public:
  explicit Page(bool color) : color_(color) {}
  void line(const std::string& text, const char* style = nullptr) {
    const auto end = text.find_last_not_of(' ');
    const std::string trimmed = end == std::string::npos ? "" : text.substr(0, end + 1);
    const bool styled = color_ && style != nullptr && !trimmed.empty();
    text_ += styled ? style + trimmed + kReset : trimmed;
    text_ += '\n';
  }
  std::string take() { return std::move(text_); }

 private:
  bool color_;
  std::string text_;
};

std::vector<std::size_t> column_widths(const Grid& grid) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    std::size_t width = display_width(grid.columns[i].heading);
    for (const GridRow& row : grid.rows) {
      if (i < row.cells.size()) width = std::max(width, display_width(row.cells[i]));
    }
    widths.push_back(width);
  }
  return widths;
}

/// A run of columns behind the labels that fits into one line.
struct Band {
  std::size_t first = 0;
  std::size_t end = 0;
};

/// Cuts the columns behind the labels into bands of at most `limit` columns of text,
/// never within a group, at least one group a band.
std::vector<Band> fold(const Grid& grid, const std::vector<std::size_t>& widths,
                       std::size_t limit) {
  std::size_t label_width = 0;
  for (std::size_t i = 0; i < grid.label_columns; ++i)
    label_width += grid.columns[i].gap + widths[i];

  std::vector<Band> bands{{grid.label_columns, grid.label_columns}};
  std::size_t used = label_width;
  for (std::size_t i = grid.label_columns; i < grid.columns.size();) {
    std::size_t group_end = i + 1;
    while (group_end < grid.columns.size() && !grid.columns[group_end].starts_group) ++group_end;
    std::size_t group_width = 0;
    for (std::size_t j = i; j < group_end; ++j) group_width += grid.columns[j].gap + widths[j];
    const bool empty = bands.back().first == bands.back().end;
    if (!empty && used + group_width > limit) {
      bands.push_back({i, i});
      used = label_width;
    }
    used += group_width;
    bands.back().end = group_end;
    i = group_end;
  }
  return bands;
}

/// Puts cells of a line in their columns.
class LineWriter {
 public:
  LineWriter(const Grid& grid, const std::vector<std::size_t>& widths)
      : grid_(grid), widths_(widths) {}
  void cell(std::size_t column, const std::string& text) {
    line_.append(grid_.columns[column].gap, ' ');
    line_ += pad(text, widths_[column], grid_.columns[column].align_right);
  }
  void message(const std::string& text) { line_ += std::string(kMessageGap, ' ') + text; }
  const std::string& line() const { return line_; }

 private:
  const Grid& grid_;
  const std::vector<std::size_t>& widths_;
  std::string line_;
};

std::string heading_line(const Grid& grid, const std::vector<std::size_t>& widths,
                         const Band& band) {
  LineWriter writer(grid, widths);
  for (std::size_t i = 0; i < grid.label_columns; ++i) writer.cell(i, grid.columns[i].heading);
  for (std::size_t i = band.first; i < band.end; ++i) writer.cell(i, grid.columns[i].heading);
  return writer.line();
}

std::string row_line(const Grid& grid, const std::vector<std::size_t>& widths, const Band& band,
                     const GridRow& row) {
  LineWriter writer(grid, widths);
  for (std::size_t i = 0; i < grid.label_columns; ++i) {
    writer.cell(i, i == 0 && row.repeats_first ? "" : row.cells[i]);
  }
  if (!row.message.empty()) {
    writer.message(row.message);
    return writer.line();
  }
  for (std::size_t i = band.first; i < band.end; ++i) writer.cell(i, row.cells[i]);
  return writer.line();
}

const char* style_of(const GridRow& row) {
  switch (row.style) {
    case GridRow::Style::kProblem:
      return kRed;
    case GridRow::Style::kBaseline:
      return kDim;
    case GridRow::Style::kPlain:
      break;
  }
  return nullptr;
}

void write_grid(Page& page, const Grid& grid, std::size_t limit) {
  page.line("");
  page.line(grid.title, kBold);
  for (const std::string& subtitle : grid.subtitles) page.line("  " + subtitle, kDim);
  const std::vector<std::size_t> widths = column_widths(grid);
  const std::vector<Band> bands = fold(grid, widths, limit);
  for (const Band& band : bands) {
    if (&band != &bands.front()) page.line("");
    page.line(heading_line(grid, widths, band));
    for (const GridRow& row : grid.rows) {
      const std::string line = row_line(grid, widths, band, row);
      // A row that goes on with the one above may have nothing to add in this band.
      if (line.find_first_not_of(' ') != std::string::npos) page.line(line, style_of(row));
    }
  }
  for (const std::string& footnote : grid.footnotes) page.line("  " + footnote, kDim);
}

}  // namespace

std::string render_terminal(const Comparison& comparison, const FormatOptions& options) {
  Page page(options.color);
  const std::vector<HeadingLine> heading = heading_lines(comparison);
  std::size_t name_width = 0;
  for (const HeadingLine& line : heading) name_width = std::max(name_width, line.name.size());
  for (const HeadingLine& line : heading) {
    page.line(pad(line.name, name_width, false) + "  " + line.text);
  }
  const auto limit = static_cast<std::size_t>(options.width > 0 ? options.width : kPageWidth);
  for (const Grid& grid : series_grids(comparison)) write_grid(page, grid, limit);
  for (const Grid& grid : overview_grids(comparison)) write_grid(page, grid, limit);
  for (const ComparisonTable& table : comparison.tables) {
    write_grid(page, table_grid(comparison, table), limit);
  }
  for (const Grid& grid : arms_grids(comparison)) write_grid(page, grid, limit);
  return page.take();
}

}  // namespace numabench
