#include "reports/heat_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "hosts/error.h"
#include "reports/figures.h"
#include "reports/gnuplot.h"

namespace numabench {
namespace {

std::string tics(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    parts.push_back(fmt::format("{} {}", gnuplot_string(names[i]), i));
  }
  return fmt::format("({})", fmt::join(parts, ", "));
}

/// "column row value text"; nothing for a square without a value.
std::string data_text(const HeatMap& map) {
  std::string text;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const double value = map.values[row][column];
      if (!std::isfinite(value)) continue;
      text += fmt::format("{} {} {} {:.{}f}\n", column, row, value, value, map.decimals);
    }
  }
  return text;
}

/// Pale to dark of one colour, so that it survives print and colour-blind eyes; black numbers stay
/// readable on all of it.
std::string script_text(const HeatMap& map, const std::string& base) {
  // A number a square down to about 24 of them; beyond that they would overlap.
  constexpr std::size_t kMostWithNumbers = 24;
  const bool numbers = map.columns.size() <= kMostWithNumbers;
  const std::string plot = fmt::format(
      "plot '{0}.dat' using 1:2:(0.48):(0.48):3 with boxxyerror fs solid noborder lc palette "
      "notitle{1}\n",
      base,
      numbers ? fmt::format(", '{}.dat' using 1:2:4 with labels notitle", base) : std::string());
  return fmt::format(
      "set encoding utf8\n"
      "set terminal svg size 760,640 dynamic noenhanced font 'DejaVu Sans,13' background "
      "'#ffffff'\n"
      "set output '{base}.svg'\n"
      "set title {title}\nset xlabel {columns}\nset ylabel {rows}\n"
      "set xrange [-0.5:{last_column}.5]\nset yrange [{last_row}.5:-0.5]\n"
      "set xtics {xtics} scale 0\nset ytics {ytics} scale 0\n"
      "set palette defined ({palette})\nset border 0\nset size ratio {ratio}\n"
      "{plot}"
      "set terminal pngcairo size 1140,960 noenhanced font 'DejaVu Sans,18' background '#ffffff'\n"
      "set output '{base}.png'\nreplot\n",
      fmt::arg("base", base), fmt::arg("title", gnuplot_string(map.title)),
      fmt::arg("columns", gnuplot_string(map.column_axis)),
      fmt::arg("rows", gnuplot_string(map.row_axis)),
      fmt::arg("last_column", map.columns.size() - 1), fmt::arg("last_row", map.rows.size() - 1),
      fmt::arg("xtics", tics(map.columns)), fmt::arg("ytics", tics(map.rows)),
      fmt::arg("palette",
               map.lower_is_better ? "0 '#f7fbff', 1 '#4292c6'" : "0 '#4292c6', 1 '#f7fbff'"),
      fmt::arg("ratio",
               static_cast<double>(map.rows.size()) / static_cast<double>(map.columns.size())),
      fmt::arg("plot", plot));
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (file.good()) return;
  throw Error(ErrorKind::kRun, fmt::format("cannot write {}", path.string()),
              "check the rights and the free space of the folder");
}

}  // namespace

std::vector<std::string> draw_heat_map(const HeatMap& map, const std::string& directory,
                                       const std::string& base) {
  require_gnuplot();
  make_figure_directory(directory);
  const std::filesystem::path folder = directory;
  write_file(folder / (base + ".dat"), data_text(map));
  write_file(folder / (base + ".gp"), script_text(map, base));
  return run_gnuplot(directory, base);
}

}  // namespace numabench
