#include "reports/run_figure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "hosts/error.h"
#include "hosts/units.h"
#include "reports/gnuplot.h"

namespace numabench {
namespace {

using Series = std::map<std::string, std::vector<SampleRecord>>;  ///< by metric

struct Line {
  const char* metric;
  const char* title;
  const char* color;
};

/// Metrics of one unit, one above the other in time.
struct Panel {
  const char* label;
  std::vector<Line> lines;
  bool from_zero;
};

// Okabe and Ito's colours, told apart by colour-blind readers and in print.
constexpr const char* kBlue = "0072B2";
constexpr const char* kOrange = "D55E00";
constexpr const char* kGreen = "009E73";
constexpr const char* kPurple = "CC79A7";
constexpr const char* kGrey = "555555";

// In points of the drawing.
constexpr int kPanelHeight = 150;  // with the gap to the next
constexpr int kPanelGap = 20;
constexpr int kTitleHeight = 60;
constexpr int kAxisHeight = 50;
constexpr std::size_t kMostLabels = 12;
constexpr std::size_t kLabelWidth = 24;

const std::vector<Panel>& panels() {
  static const std::vector<Panel> kPanels = {
      {"tps", {{"tps", "transactions/s", kBlue}}, true},
      {"scans/s", {{"scans_per_s", "scans/s", kBlue}}, true},
      {"hit %", {{"hit_pct", "hit ratio", kGreen}}, false},
      {"CPU %",
       {{"cpu_busy_pct", "all CPUs busy", kGrey},
        {"server_cpu_pct", "server, of its CPUs", kBlue},
        {"client_cpu_pct", "clients, of theirs", kGreen},
        {"other_cpu_pct", "others", kOrange},
        {"cpu_steal_pct", "stolen", kPurple}},
       true},
      {"disk IOPS",
       {{"disk_reads_per_s", "reads/s", kBlue}, {"disk_writes_per_s", "writes/s", kOrange}},
       true},
      {"disk busy %", {{"disk_utilisation_pct", "with I/O in flight", kGrey}}, true},
  };
  return kPanels;
}

/// A metric that was 0 all the time says nothing in a picture, but for the speed.
bool is_worth_drawing(const Series& series, const Line& line) {
  const auto found = series.find(line.metric);
  if (found == series.end()) return false;
  return std::ranges::any_of(found->second, [](const SampleRecord& sample) {
    return std::isfinite(sample.value) && sample.value != 0;
  });
}

std::vector<Panel> panels_of(const Series& series) {
  std::vector<Panel> chosen;
  for (Panel panel : panels()) {
    std::erase_if(panel.lines, [&](const Line& line) { return !is_worth_drawing(series, line); });
    if (!panel.lines.empty()) chosen.push_back(std::move(panel));
  }
  return chosen;
}

std::vector<EventRecord> timed_events(const RunRecord& run) {
  std::vector<EventRecord> events;
  std::ranges::copy_if(run.events, std::back_inserter(events),
                       [](const EventRecord& event) { return event.t_seconds.has_value(); });
  return events;
}

/// Cut between two characters, not in one.
std::string shortened(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string data_name(const std::string& base, const std::string& metric) {
  return fmt::format("{}-{}.dat", base, metric);
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text << std::flush;
  if (file.good()) return;
  throw Error(ErrorKind::kRun, "cannot write " + path.string(),
              "check the rights and the free space of the folder");
}

void write_data(const std::string& directory, const std::string& base, const Panel& panel,
                const Series& series) {
  for (const Line& line : panel.lines) {
    std::string text;
    for (const SampleRecord& sample : series.at(line.metric)) {
      text += fmt::format("{} {}\n", format_exact(sample.t_seconds),
                          std::isfinite(sample.value) ? format_exact(sample.value) : "nan");
    }
    write_text(std::filesystem::path(directory) / data_name(base, line.metric), text);
  }
}

std::string title_of(const FoundRun& found) {
  const RunRecord& run = found.run;
  const std::string which = run.repetition == kDriftControl
                                ? "drift control"
                                : fmt::format("repetition {}", run.repetition);
  return fmt::format("run {} of {}: {} · {} · ratio {} · {} clients · {}", run.id,
                     found.experiment.name, found.cell.arm, found.cell.workload,
                     format_exact(found.cell.ratio), found.cell.clients, which);
}

/// Why it does not count, or what it warns of first that its seconds can show.
std::string subtitle_of(const FoundRun& found) {
  const RunRecord& run = found.run;
  if (run.status != RunStatus::kOk) {
    return shortened(to_string(run.status) + ": " + run.reason, 110);
  }
  for (const EventRecord& event : run.events) {
    if (event.text.starts_with("unsettled")) return shortened(event.text, 110);
  }
  return found.experiment.smoke ? "SMOKE RUN, not fit to publish" : "";
}

std::string event_marks(const std::vector<EventRecord>& events, bool with_labels) {
  std::string marks = "unset arrow\nunset label\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::string t = format_exact(*events[i].t_seconds);
    marks += fmt::format(
        "set arrow from {0}, graph 0 to {0}, graph 1 nohead back lc rgb '#999999' dt 2\n", t);
    if (!with_labels || i >= kMostLabels) continue;
    marks += fmt::format(
        "set label {} at {}, graph 0.03 rotate by 90 left offset 0.6,0 font ',9' tc rgb "
        "'#666666'\n",
        gnuplot_string(shortened(events[i].text, kLabelWidth)), t);
  }
  return marks;
}

std::string panel_commands(const Panel& panel, const std::string& base, bool is_last) {
  std::vector<std::string> lines;
  for (const Line& line : panel.lines) {
    lines.push_back(
        fmt::format("'{}' using 1:2 with linespoints lc rgb '#{}' lw 1.5 pt 7 ps 0.4 title {}",
                    data_name(base, line.metric), line.color, gnuplot_string(line.title)));
  }
  return fmt::format(
      "set ylabel {}\nset yrange [{}:*]\nset format x '{}'\nset xlabel {}\nplot {}\n"
      "unset title\n",
      gnuplot_string(panel.label), panel.from_zero ? "0" : "*", is_last ? "%g" : "",
      is_last ? "'seconds of the window'" : "''", fmt::join(lines, ", \\\n     "));
}

int height_of(std::size_t panel_count) {
  return kTitleHeight + kPanelHeight * static_cast<int>(panel_count) + kAxisHeight;
}

/// Where panel `index` of `count` is, from the bottom up as gnuplot counts.
std::string margins(std::size_t index, std::size_t count) {
  const double height = height_of(count);
  const int top = kTitleHeight + kPanelHeight * static_cast<int>(index);
  return fmt::format("set tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\n",
                     1 - top / height, 1 - (top + kPanelHeight - kPanelGap) / height);
}

std::string plot_commands(const FoundRun& found, const std::vector<Panel>& chosen,
                          double last_second, const std::string& base) {
  const std::vector<EventRecord> events = timed_events(found.run);
  std::string text = fmt::format(
      "set multiplot\nset lmargin at screen 0.1\nset rmargin at screen 0.78\n"
      "set xrange [0:{}]\nset grid lc rgb '#cccccc' lw 1 dt 1\n"
      "set border 3 lc rgb '#444444'\nset xtics nomirror out\nset ytics nomirror out\n"
      "set key at screen 0.99, graph 1 right top vertical Left reverse samplen 1.5\n"
      "set title {}.\"\\n\".{}\n",
      format_exact(last_second), gnuplot_string(title_of(found)),
      gnuplot_string(subtitle_of(found)));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    text += margins(i, chosen.size()) + event_marks(events, i == 0) +
            panel_commands(chosen[i], base, i + 1 == chosen.size());
  }
  return text + "unset multiplot\n";
}

/// Once for each terminal: gnuplot cannot plot a multiplot again.
std::string script_text(const std::string& plots, std::size_t panel_count,
                        const std::string& base) {
  const int height = height_of(panel_count);
  return fmt::format(
      "set encoding utf8\n"
      "set terminal svg size 960,{1} dynamic noenhanced font 'DejaVu Sans,12' "
      "background '#ffffff'\n"
      "set output '{0}.svg'\n{3}reset\nset encoding utf8\n"
      "set terminal pngcairo size 1440,{2} noenhanced font 'DejaVu Sans,14' fontscale 1.1 "
      "linewidth 1.3 background '#ffffff'\n"
      "set output '{0}.png'\n{3}",
      base, height, height * 3 / 2, plots);
}

}  // namespace

std::optional<FoundRun> find_run(const Store& store, std::int64_t run_id) {
  for (const ExperimentRecord& experiment : store.experiments()) {
    for (const auto& runs : {store.runs(experiment.id), store.drift_controls(experiment.id)}) {
      const auto run = std::ranges::find(runs, run_id, &RunRecord::id);
      if (run == runs.end()) continue;
      const std::vector<CellRecord> cells = store.cells(experiment.id);
      return FoundRun{experiment, *std::ranges::find(cells, run->cell_id, &CellRecord::id), *run};
    }
  }
  return std::nullopt;
}

std::vector<std::string> draw_run(const Store& store, const FoundRun& found,
                                  const std::string& directory) {
  Series series;
  double last_second = 0;
  for (SampleRecord& sample : store.samples(found.run.id)) {
    last_second = std::max(last_second, sample.t_seconds);
    series[sample.metric].push_back(std::move(sample));
  }
  const std::vector<Panel> chosen = panels_of(series);
  if (chosen.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("run {} has no samples to be drawn: {}", found.run.id,
                            found.run.status == RunStatus::kOk
                                ? "its window was shorter than a second"
                                : to_string(found.run.status) + ", " + found.run.reason),
                "measure longer");
  }
  make_figure_directory(directory);
  const std::string base = fmt::format("run-{}", found.run.id);
  for (const Panel& panel : chosen) write_data(directory, base, panel, series);
  write_text(std::filesystem::path(directory) / (base + ".gp"),
             script_text(plot_commands(found, chosen, last_second, base), chosen.size(), base));
  return run_gnuplot(directory, base);
}

}  // namespace numabench
