#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hosts/probes/probe.h"
#include "hosts/units.h"

namespace numabench {
namespace {

std::string cell_text(const ProbeMatrix& matrix, double value) {
  if (!std::isfinite(value)) return "–";
  return matrix.unit == "B/s" ? fmt::format("{:.1f}", value / 0x1p30)
                              : fmt::format("{:.1f}", value);
}

struct Means {
  double local = 0;
  double remote = 0;
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::vector<std::string> find_suspicious(const ProbeMatrix& matrix) {
  // A choice of this program: nodes that differ by less give a placement nothing to show.
  constexpr double kNearlyEqual = 1.05;
  std::vector<double> local, remote;
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
      const double value = matrix.values[row][column];
      if (!std::isfinite(value) || value <= 0) continue;
      (matrix.rows[row] == matrix.columns[column] ? local : remote).push_back(value);
    }
  }
  if (local.empty() || remote.empty()) return {};
  const Means means{mean(local), mean(remote)};
  const double penalty =
      matrix.lower_is_better() ? means.remote / means.local : means.local / means.remote;
  if (penalty >= kNearlyEqual) return {};
  const std::string local_text = cell_text(matrix, means.local);
  const std::string remote_text = cell_text(matrix, means.remote);
  if (penalty < 1 / kNearlyEqual) {
    return {
        fmt::format("{}: remote {} is better than local {}: the nodes are not those of the "
                    "hardware (a hypervisor, numa=fake), or something else ran; placements "
                    "by these nodes will mislead",
                    matrix.name, remote_text, local_text)};
  }
  return {
      fmt::format("{}: local {} and remote {} are nearly equal: memory is interleaved behind "
                  "the nodes (firmware's node interleaving, a hypervisor, numa=fake), and "
                  "placements will show nothing; look at the firmware's settings",
                  matrix.name, local_text, remote_text)};
}

std::string format_matrix(const ProbeMatrix& matrix) {
  constexpr int kWidth = 10;
  std::string text =
      fmt::format("{}, {}\n{:12}", matrix.name, matrix.unit == "B/s" ? "GiB/s" : matrix.unit, "");
  for (const int node : matrix.columns)
    text += fmt::format("{:>{}}", fmt::format("node {}", node), kWidth);
  text += "\n";
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    text += fmt::format("{:12}", fmt::format("from node {}", matrix.rows[row]));
    for (const double value : matrix.values[row]) {
      text += fmt::format("{:>{}}", cell_text(matrix, value), kWidth);
    }
    text += "\n";
  }
  for (const std::string& note : matrix.notes) text += "  " + note + "\n";
  return text;
}

std::string format_counter(const ContendedCounter& counter) {
  std::string text = "one counter, all threads adding\n";
  for (std::size_t i = 0; i < counter.threads.size(); ++i) {
    text +=
        fmt::format("{:>4} thread{}  {:>14} adds/s\n", counter.threads[i],
                    counter.threads[i] == 1 ? " " : "s", format_count(counter.adds_per_second[i]));
  }
  return text;
}

}  // namespace numabench
