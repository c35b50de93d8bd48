#include "reports/figure_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnuplot-iostream.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>

#include "hosts/error.h"
#include "hosts/units.h"
#include "reports/figure_axes.h"
#include "reports/formats/grid.h"
#include "reports/gnuplot.h"

namespace numabench {

/// A line of a data file; without a summary it is a gap in the line of the figure.
struct FigurePoint {
  double position = 0;  ///< on the axis: the ratio, moved a little
  double ratio = 0;
  std::optional<Summary> summary;
};

}  // namespace numabench

/// How gnuplot-iostream writes a point: exactly, where a stream would keep six digits.
template <>
struct gnuplotio::TextSender<numabench::FigurePoint> {
  static void send(std::ostream& stream, const numabench::FigurePoint& point) {
    using numabench::format_exact;
    stream << format_exact(point.position) << ' ' << format_exact(point.ratio);
    if (!point.summary) {
      stream << " nan nan nan";
      return;
    }
    for (const double value :
         {point.summary->median, point.summary->minimum, point.summary->maximum}) {
      stream << ' ' << format_exact(value);
    }
  }
};

namespace numabench {
namespace {

namespace fs = std::filesystem;

/// Okabe and Ito's colours, told apart by colour-blind readers and in print; the baseline is grey.
constexpr const char* kBaselineColor = "555555";
constexpr std::array kColors = {"0072B2", "D55E00", "009E73", "CC79A7", "E69F00", "56B4E9"};
constexpr const char* kPale = "80";  // gnuplot's transparency, before a colour
/// Filled shapes of gnuplot's terminals; the one before each is the same shape, hollow.
constexpr std::array kPointTypes = {5, 9, 7, 11, 13, 15};
constexpr int kBaselinePointType = 6;

/// One line of the figure.
struct FigureLine {
  std::string name;
  std::string style;  ///< gnuplot's words for colour and point
  std::vector<FigurePoint> points;
  bool empty = true;  ///< no point has a value
};

std::vector<double> ratios_of(const ComparisonTable& table) {
  std::vector<double> ratios;
  for (const ComparisonRow& row : table.rows) {
    if (ratios.empty() || ratios.back() != row.cell.ratio) ratios.push_back(row.cell.ratio);
  }
  return ratios;
}

std::string line_name(const ComparisonRow& row) {
  return row.side.empty() ? row.cell.arm : row.cell.arm + " " + row.side;
}

/// The rows of each line, in the order of the table.
std::vector<std::vector<const ComparisonRow*>> rows_by_line(const ComparisonTable& table) {
  std::vector<std::vector<const ComparisonRow*>> lines;
  for (const ComparisonRow& row : table.rows) {
    const auto known = std::find_if(lines.begin(), lines.end(), [&](const auto& line) {
      return line_name(*line.front()) == line_name(row);
    });
    if (known == lines.end()) {
      lines.push_back({&row});
    } else {
      known->push_back(&row);
    }
  }
  return lines;
}

std::optional<Summary> summary_at(const std::vector<const ComparisonRow*>& rows, double ratio,
                                  const std::string& metric) {
  for (const ComparisonRow* row : rows) {
    if (row->cell.ratio != ratio) continue;
    const ComparisonValue* value = row->find(metric);
    if (value != nullptr) return value->summary;
  }
  return std::nullopt;
}

/// An arm keeps its colour on both sides of a comparison of experiments; "before" is paler, and
/// hollow as are the points of arms beyond the number of colours. Never dashes: they would tear the
/// bars.
std::string style_of(const ComparisonRow& first, std::size_t arm) {
  if (first.is_baseline && first.side.empty()) {
    return fmt::format("lc rgb '#{}' pt {} ps 1 lw 2", kBaselineColor, kBaselinePointType);
  }
  const bool pale = first.side == "before";
  const bool hollow = pale || arm >= kColors.size();
  return fmt::format("lc rgb '#{}{}' pt {} ps 1 lw 2", pale ? kPale : "",
                     kColors[arm % kColors.size()],
                     kPointTypes[arm % kPointTypes.size()] - (hollow ? 1 : 0));
}

std::vector<FigureLine> lines_of(const ComparisonTable& table, const std::string& metric) {
  std::vector<FigureLine> lines;
  std::vector<std::string> arms;  // that have a colour of their own
  for (const auto& rows : rows_by_line(table)) {
    const ComparisonRow& first = *rows.front();
    const bool grey = first.is_baseline && first.side.empty();
    if (!grey && std::find(arms.begin(), arms.end(), first.cell.arm) == arms.end()) {
      arms.push_back(first.cell.arm);
    }
    const auto arm = std::find(arms.begin(), arms.end(), first.cell.arm) - arms.begin();
    FigureLine& line = lines.emplace_back();
    line.name = line_name(first);
    line.style = style_of(first, static_cast<std::size_t>(arm));
    for (const double ratio : ratios_of(table)) {
      line.points.push_back({ratio, ratio, summary_at(rows, ratio, metric)});
      if (line.points.back().summary) line.empty = false;
    }
  }
  return lines;
}

void move_apart(std::vector<FigureLine>& lines, const RatioAxis& axis) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (FigurePoint& point : lines[i].points) point.position = axis.position(point.ratio, i);
  }
}

Axis value_axis_of(const std::vector<FigureLine>& lines, const Metric& metric) {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -minimum;
  for (const FigureLine& line : lines) {
    for (const FigurePoint& point : line.points) {
      if (!point.summary) continue;
      minimum = std::min(minimum, point.summary->minimum);
      maximum = std::max(maximum, point.summary->maximum);
    }
  }
  return value_axis(metric, minimum, maximum);
}

std::string axis_commands(char name, const Axis& axis) {
  std::string tics;
  for (const Tic& tic : axis.tics) {
    tics += fmt::format("{}{} {}", tics.empty() ? "" : ", ", gnuplot_string(tic.label),
                        format_exact(tic.at));
  }
  return fmt::format("{}set {}range [{}:{}]\nset {}tics nomirror out ({})\n",
                     axis.logarithmic ? fmt::format("set logscale {}\n", name) : "", name,
                     format_exact(axis.low), format_exact(axis.high), name, tics);
}

std::string value_label(const Metric& metric, const Axis& axis) {
  std::string label = column_heading(metric);
  if (metric.better == Better::kHigher) label += ", higher is better";
  if (metric.better == Better::kLower) label += ", lower is better";
  if (axis.logarithmic) return label + " (logarithmic)";
  return axis.low == 0 ? label : label + " (not from 0)";
}

std::string title_commands(const Comparison& comparison, const ComparisonTable& table,
                           const Metric& metric) {
  std::string what = fmt::format("{}: {}, medians; bars from the lowest to the highest run",
                                 comparison.experiment.name, metric.title);
  if (comparison.experiment.smoke) what += " · SMOKE RUN, not fit to publish";
  return fmt::format("set title {}.\"\\n\".{}\n", gnuplot_string(table.title),
                     gnuplot_string(what));
}

std::string data_name(const std::string& base, std::size_t line) {
  return fmt::format("{}-{}.dat", base, line + 1);
}

std::string plot_command(const std::vector<FigureLine>& lines, const std::string& base) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const FigureLine& line = lines[i];
    const std::string source =
        line.empty ? "keyentry" : fmt::format("'{}' using 1:3:4:5", data_name(base, i));
    parts.push_back(fmt::format("{} with yerrorlines {} title {}", source, line.style,
                                gnuplot_string(line.name + (line.empty ? " (no result)" : ""))));
  }
  return fmt::format("plot {}\n", fmt::join(parts, ", \\\n     "));
}

/// Both images from one script: gnuplot plots again for the second terminal.
std::string script_text(const std::string& setup, const std::string& plot,
                        const std::string& base) {
  return fmt::format(
      "set encoding utf8\n"
      "set terminal svg size 960,560 dynamic noenhanced font 'DejaVu Sans,13' "
      "background '#ffffff'\n"
      "set output '{0}.svg'\n"
      "{1}{2}"
      "set terminal pngcairo size 1440,840 noenhanced font 'DejaVu Sans,15' fontscale 1.2 "
      "linewidth 1.5 pointscale 1.5 background '#ffffff'\n"
      "set output '{0}.png'\n"
      "replot\n",
      base, setup, plot);
}

Error not_written(const fs::path& path) {
  return Error(ErrorKind::kRun, fmt::format("cannot write {}", path.string()),
               "check the rights and the free space of the folder");
}

/// The script and a data file for each line that has one. gnuplot-iostream reports no failure to
/// write: look at what is on the disk.
void write_files(const fs::path& folder, const std::string& base, const std::string& text,
                 const std::vector<FigureLine>& lines) {
  const fs::path path = folder / (base + ".gp");
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw not_written(path);
  Gnuplot script(file);
  script << text << std::flush;
  if (!script.good()) throw not_written(path);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty) continue;
    const fs::path data = folder / data_name(base, i);
    std::error_code error;
    fs::remove(data, error);
    script.file1d(lines[i].points, data.string());
    if (!fs::exists(data, error) || fs::file_size(data, error) == 0) throw not_written(data);
  }
}

}  // namespace

void write_figure_script(const Comparison& comparison, const ComparisonTable& table,
                         const Metric& metric, const std::string& directory,
                         const std::string& base) {
  std::vector<FigureLine> lines = lines_of(table, metric.name);
  const RatioAxis ratio_axis(ratios_of(table), lines.size());
  move_apart(lines, ratio_axis);
  const Axis values = value_axis_of(lines, metric);

  const std::string ratio_label = fmt::format(
      "ratio, working set ÷ pool{}", ratio_axis.axis().logarithmic ? " (logarithmic)" : "");
  const std::string setup =
      title_commands(comparison, table, metric) + axis_commands('x', ratio_axis.axis()) +
      (ratio_axis.crowded() ? "set xtics rotate by -60\n" : "") + axis_commands('y', values) +
      fmt::format("set xlabel {}\nset ylabel {}\n", gnuplot_string(ratio_label),
                  gnuplot_string(value_label(metric, values))) +
      "set grid lc rgb '#cccccc' lw 1 dt 1\nset border 3 lc rgb '#444444'\n"
      "set key outside right center vertical Left reverse samplen 2\n"
      "set errorbars 0.5\n";
  write_files(directory, base, script_text(setup, plot_command(lines, base), base), lines);
}

}  // namespace numabench
