#include "reports/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "hosts/error.h"
#include "hosts/process.h"
#include "reports/figure_script.h"
#include "reports/gnuplot.h"

namespace numabench {
namespace {

constexpr const char* kInstallGnuplot =
    "install gnuplot-nox (Debian, Ubuntu) or gnuplot (Fedora, Amazon Linux)";

/// Titles that differ in what a slug leaves out must not overwrite each other's files.
std::string unique_name(const std::string& wanted, std::set<std::string>& taken) {
  std::string name = wanted;
  for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}-{}", wanted, n);
  return name;
}

bool has_values(const ComparisonTable& table, const std::string& metric) {
  for (const ComparisonRow& row : table.rows) {
    const ComparisonValue* value = row.find(metric);
    if (value != nullptr && value->summary) return true;
  }
  return false;
}

}  // namespace

void require_gnuplot() {
  CommandResult result;
  try {
    result = run_command({"gnuplot", "-e", "set terminal svg; set terminal pngcairo"});
  } catch (const Error& error) {
    throw Error(ErrorKind::kPreflight,
                "figures need gnuplot, which cannot be started: " + error.problem(),
                kInstallGnuplot);
  }
  if (result.ok()) return;
  throw Error(ErrorKind::kPreflight,
              "this gnuplot cannot draw SVG and PNG (terminals svg and pngcairo): " + result.err,
              kInstallGnuplot);
}

std::vector<std::string> draw_figures(const Comparison& comparison,
                                      const std::vector<std::string>& metrics,
                                      const std::string& directory) {
  require_gnuplot();
  make_figure_directory(directory);
  std::vector<std::string> images;
  std::set<std::string> taken;
  for (const ComparisonTable& table : comparison.tables) {
    for (const std::string& name : metrics) {
      const Metric* metric = find_metric(name);
      if (metric == nullptr) {
        throw Error(ErrorKind::kUsage, fmt::format("unknown metric '{}'", name));
      }
      if (!has_values(table, name)) continue;
      const std::string base = unique_name(file_slug(table.title + "-" + name), taken);
      write_figure_script(comparison, table, *metric, directory, base);
      std::ranges::move(run_gnuplot(directory, base), std::back_inserter(images));
    }
  }
  return images;
}

}  // namespace numabench
